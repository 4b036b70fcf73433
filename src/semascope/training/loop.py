"""The only batch loop: begin, step, update, until done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import Engine, Locals, Placed, Stats
from semascope.training.checkpoint import Checkpoints
from semascope.training.stopping import INTERRUPTED, CtrlC, StopRule

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Algorithm(Protocol):
    """A batch algorithm: a frozen dataclass of settings, whose methods are pure functions."""

    document_rows: ClassVar[str]
    """The local array with one row for each document."""
    state_type: ClassVar[type]
    """A named tuple of arrays and numbers."""
    objective_name: ClassVar[str]
    """What people call the objective."""

    def begin(self, shard: Shard) -> tuple[Locals, Stats]:
        """On a worker: the shard's first locals and statistics."""

    def start(self, stats: Any) -> Any:
        """Once: the first state."""

    def step(self, shard: Shard, local: Locals, state: Any) -> tuple[Locals, Stats]:
        """On a worker, in every iteration: the shard's next locals and statistics."""

    def update(self, state: Any, stats: Any) -> Any:
        """Once in every iteration: the next state."""

    def objective(self, state: Any, stats: Any) -> float:
        """What should rise, before the step that gave these statistics."""

    def to_judge(self, state: Any, history: Sequence[float]) -> Sequence[float]:
        """The objectives that tell whether to stop: those since the last time that something else was to be found out first."""

    def to_keep(self, state: Any) -> Any:
        """The state that a run has come to, when it ends with this one."""

    def note(self, state: Any) -> str:
        """What to tell whoever looks on, beside the objective."""


class Watcher(Protocol):
    """Someone who looks on while a model is trained."""

    def __call__(self, history: Sequence[float], note: str) -> None:
        """Take note of the objective after each iteration, and of what else there is to tell."""


@dataclass(frozen=True)
class Fitted:
    """What a run came to.

    state       the last state
    history     the objective, one value for each iteration
    documents   one row for each document
    stopped_by  why it ended: settled, iterations, time or interrupted
    """

    state: Any
    history: list[float]
    documents: NDArray[Any]
    stopped_by: str


def run(
    algorithm: Algorithm,
    shards: Sequence[ShardRef],
    engine: Engine,
    *,
    stop: StopRule,
    watch: Watcher | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fitted:
    """Train until the rule says stop; Ctrl-C stops early and keeps what there is."""
    work_dir = checkpoints.directory.parent if checkpoints else None
    with engine.place(shards, work_dir) as placed, CtrlC() as ctrl_c:
        state, history = _start(algorithm, placed, checkpoints)
        began = time.monotonic()
        while True:
            seconds = time.monotonic() - began
            reason = INTERRUPTED if ctrl_c.pressed else stop(algorithm.to_judge(state, history), seconds)
            if reason := placed.agree(reason):
                break
            stats = placed.step(algorithm.step, state)
            history.append(algorithm.objective(state, stats))
            state = algorithm.update(state, stats)
            if watch:
                watch(algorithm.to_judge(state, history), algorithm.note(state))
            if checkpoints and placed.agree(checkpoints.due()):
                checkpoints.save(placed, state, history)
        if checkpoints and reason == INTERRUPTED:
            checkpoints.save(placed, state, history)
        return Fitted(algorithm.to_keep(state), history, placed.documents(algorithm.document_rows), reason)


def _start(algorithm: Algorithm, placed: Placed, checkpoints: Checkpoints | None) -> tuple[Any, list[float]]:
    if checkpoints and checkpoints.resume:
        return checkpoints.load(placed, algorithm.state_type)
    return algorithm.start(placed.begin(algorithm.begin)), []
