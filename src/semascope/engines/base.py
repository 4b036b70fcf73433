"""The contract between the mathematics and the machines.

An engine is a frozen dataclass of settings: it can be copied, compared and printed, and connects to nothing before `place`.
It is handed shards and importable functions, and hands back sums; it never learns what is being trained. A task gets a shard,
the arrays that stayed with it from last time (its *locals*) and the state that all share, and gives new locals and statistics.
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
"""What stays with a shard between iterations: named arrays, the topics of its documents for example."""

Stats = Any
"""A named tuple of `Counts` and `Scalars` from a task; the same named tuple of their totals from an engine."""

LocalProblem = Callable[[ShardRef, Locals], str | None]
"""Returns what is wrong with the locals of a shard that were read from disk; None if nothing is."""

T = TypeVar("T")


class Session(Protocol):
    """Shards placed on an engine, ready to work."""

    def begin(self, task: Callable[[Shard], tuple[Locals, Stats]]) -> Stats:
        """Run ``task(shard)`` on every shard; keep the locals, add the statistics."""

    def step(self, task: Callable[[Shard, Locals, Any], tuple[Locals, Stats]], state: Any) -> Stats:
        """Run ``task(shard, locals, state)`` on every shard; keep the new locals, add the statistics.

        The sums are good until the next step, which may use their memory again.
        """

    def documents(self, rows: Callable[[Locals], NDArray[Any]]) -> NDArray[Any]:
        """Return what `rows` makes of the locals of each shard, one row for each of its documents, for all documents."""

    def save(self, target: Path, layout: Layout, fill: Callable[[Draft], None]) -> None:
        """Write a directory with all locals and what `fill` adds, whole or not at all: a resumed run gives the same bits."""

    def load_locals(self, directory: Directory, problem: LocalProblem) -> None:
        """Read the locals that `save` wrote; those that `problem` finds something wrong with are refused."""

    def broadcast(self, value: T) -> T:
        """Return one value everywhere: what depends on a clock or a signal must not split the workers."""


class Engine(Protocol):
    """Settings of a place to work. With several processes, all of them run the same program."""

    @property
    def is_root(self) -> bool:
        """Whether this is the process that writes files and reports to people."""

    def open(self, shards: Sequence[ShardRef], work_dir: Path | None = None) -> AbstractContextManager[Session]:
        """Connect, and hold the shards ready until the context ends.

        Processes that need a directory they all see use `work_dir`.
        """

    def run_on_all(self, action: Callable[[], T]) -> T:
        """Run an action in every process; what goes wrong in one is raised in all."""

    def run_on_root(self, action: Callable[[], None]) -> None:
        """Run an action in the leading process; the others wait for it, and for its errors."""


class OneProcess:
    """What is the same for all engines whose program runs in one process."""

    is_root: ClassVar[bool] = True

    def run_on_all(self, action: Callable[[], T]) -> T:
        """Run an action: there is one process only."""
        return action()

    def run_on_root(self, action: Callable[[], None]) -> None:
        """Run an action: there is one process only."""
        action()
