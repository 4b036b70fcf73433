"""An engine for one document at a time: on the thread that asks, for starting others would take longer than the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.shards import ShardRef
from semascope.engines.base import Locals, OneProcess

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Here(OneProcess):
    """Works on the thread that asks. Nothing is added up, so that it cannot fit."""

    @contextmanager
    def place(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> Iterator[Any]:
        """Hold the shards ready."""
        yield _Placed(shards)


class _Placed:
    def __init__(self, shards: Sequence[ShardRef]) -> None:
        self._shards = shards
        self._locals: list[Locals] = []

    def begin(self, task: Callable[[Any], tuple[Locals, Any]]) -> None:
        self._locals = [task(shard.open())[0] for shard in self._shards]

    def documents(self, rows: Callable[[Locals], NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([rows(one) for one in self._locals])
