"""The contract between algorithms and engines.

An engine is a frozen dataclass of settings: it can be copied, compared and printed, and connects to nothing before `open`.
It takes shards and importable functions and returns sums; it knows no model. A task takes a shard, the arrays kept with it
since the previous iteration (its *locals*) and the shared state, and returns new locals and sufficient statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from semascope.corpus.shards import Shard, ShardRef
from semascope.storage import Directory, Draft, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

Locals = Mapping[str, "NDArray[Any]"]
"""Named arrays kept with a shard between iterations, such as the topics of its documents."""

Stats = Any
"""A named tuple of `Counts` and `Scalars` from a task; the same named tuple of their totals from an engine."""

LocalProblem = Callable[[ShardRef, Locals], str | None]
"""Function that describes what is wrong with a shard's locals read from disk; None if they are valid."""

T = TypeVar("T")


class Session(Protocol):
    """Shards opened on an engine."""

    def begin(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        """Run ``task(shard)`` on every shard; keep the locals, add the statistics."""

    def step(self, task: Callable[[Shard, Locals, Any], tuple[Locals, Stats]], state: Any) -> Stats:
        """Run ``task(shard, locals, state)`` on every shard; keep the new locals, add the statistics.

        The sums are valid until the next step, which may reuse their memory.
        """

    def documents(self, rows: Callable[[Locals], NDArray[Any]]) -> NDArray[Any]:
        """Return one row per document, computed by `rows` from the locals of each shard."""

    def save(self, target: Path, layout: Layout, fill: Callable[[Draft], None]) -> None:
        """Write a directory atomically with all locals and what `fill` adds; a resumed run gives the same bits."""

    def load_locals(self, directory: Directory, problem: LocalProblem) -> None:
        """Load the locals written by `save`; reject those for which `problem` returns a message."""

    def broadcast(self, value: T) -> T:
        """Return the root's value on all processes, as clocks and signals differ between them."""


class Engine(Protocol):
    """Settings of an engine. With several processes, all of them run the same program."""

    @property
    def is_root(self) -> bool:
        """Whether this is the root process, which writes files and prints."""

    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> AbstractContextManager[Session]:
        """Connect and keep the shards open until the context ends.

        `work_dir` is used where processes need a shared directory.
        """

    def run_on_all(self, action: Callable[[], T]) -> T:
        """Run an action on every process; an error on one is raised on all."""

    def run_on_root(self, action: Callable[[], None]) -> None:
        """Run an action on the root process; the others wait for it and raise its errors."""


class OneProcess:
    """Base of engines whose program runs in one process."""

    is_root: ClassVar[bool] = True

    def run_on_all(self, action: Callable[[], T]) -> T:
        """Run an action in the only process."""
        return action()

    def run_on_root(self, action: Callable[[], None]) -> None:
        """Run an action in the only process."""
        action()
