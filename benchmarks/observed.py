"""Somebody looks at the state after each iteration of an estimator's fit, as the training loop lets watchers do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from semascope.models import base
from semascope.training.loop import Callback, IterationInfo


@contextmanager
def observed(observer: Callback) -> Iterator[None]:
    """Have every fit meanwhile observed."""
    run = base.run

    def run_observed(*arguments: Any, watch: Callback | None = None, **options: Any) -> Any:
        def both(info: IterationInfo, /) -> None:
            observer(info)
            if watch:
                watch(info)

        return run(*arguments, watch=both, **options)

    base.run = run_observed
    try:
        yield
    finally:
        base.run = run
