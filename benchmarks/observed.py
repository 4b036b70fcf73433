"""Somebody looks at the state after each iteration of an estimator's fit, as the training loop lets watchers do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from semascope.models import base
from semascope.training.loop import Moment, Watcher


@contextmanager
def observed(observer: Watcher) -> Iterator[None]:
    """Have every fit meanwhile observed."""
    run = base.run

    def run_observed(*arguments: Any, watch: Watcher | None = None, **options: Any) -> Any:
        def both(moment: Moment, /) -> None:
            observer(moment)
            if watch:
                watch(moment)

        return run(*arguments, watch=both, **options)

    base.run = run_observed
    try:
        yield
    finally:
        base.run = run
