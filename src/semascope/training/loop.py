"""The only batch loop: begin, step, update, until done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from semascope.corpus.shards import Shard, ShardRef
from semascope.engines.base import Engine, Locals, Session, Stats
from semascope.training.checkpoint import Checkpoints
from semascope.training.stopping import INTERRUPTED, CtrlC, StopRule

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Algorithm(Protocol):
    """A batch algorithm: a frozen dataclass of settings, whose methods are pure functions.

    Only `update` may use the memory of the state that it is given for the next one: large tables are dear to make anew.
    """

    state_type: ClassVar[type]
    """A named tuple of arrays and numbers."""
    objective_name: ClassVar[str]
    """What people call the objective."""
    per_token: ClassVar[bool]
    """Whether it is a sum over all tokens, of which people are told the mean."""

    def init_shard(self, shard: Shard) -> tuple[Locals, Stats]:
        """On a worker: the shard's first locals and statistics."""

    def init_state(self, stats: Any) -> Any:
        """Once: the first state."""

    def step(self, shard: Shard, local: Locals, state: Any) -> tuple[Locals, Stats]:
        """On a worker, in every iteration: the shard's next locals and statistics."""

    def update(self, state: Any, stats: Any) -> Any:
        """Once in every iteration: the next state."""

    def broadcast_view(self, state: Any) -> Any:
        """What `step` needs of the state: the rest need not be sent to workers."""

    def objective(self, state: Any, stats: Any) -> float:
        """What should rise, before the step that gave these statistics."""

    def convergence_history(self, state: Any, history: Sequence[float]) -> Sequence[float]:
        """The objectives that tell whether to stop: those since the last time that something else was to be found out first."""

    def final_state(self, state: Any) -> Any:
        """The state that a run has come to, when it ends with this one."""

    def document_rows(self, kept: Any, local: Locals) -> NDArray[Any]:
        """What a run that keeps this state has come to for the documents of a shard: one row for each."""

    def status(self, state: Any) -> str:
        """What to tell whoever looks on, beside the objective."""


class IterationInfo(NamedTuple):
    """A run as it is after an iteration.

    iteration   how many there were
    seconds     time they took, without what watchers took
    history     the objectives that tell whether to stop
    status      what else there is to report
    outcome     gives the state that the run would come to, were it to end now
    """

    iteration: int
    seconds: float
    history: Sequence[float]
    status: str
    outcome: Callable[[], Any]


class Callback(Protocol):
    """Someone who looks on while a model is trained. With several processes those of all look on alike, or those of one."""

    def __call__(self, info: IterationInfo, /) -> None:
        """Take note of the run after each iteration."""


@dataclass(frozen=True)
class Fitted:
    """What a run came to.

    state       the last state
    history     the objective, one value for each iteration
    documents   one row for each document
    stopped_by  why it ended: converged, iterations, time or interrupted
    seconds     time that the iterations took, without what watchers took; that of all parts of a run that was resumed
    """

    state: Any
    history: list[float]
    documents: NDArray[Any]
    stopped_by: str
    seconds: float


class Stopwatch:
    """Time that goes on but for pauses."""

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic() - seconds

    def seconds(self) -> float:
        return time.monotonic() - self._began

    def without(self, action: Callable[[], None]) -> None:
        """Do something that does not count."""
        paused = time.monotonic()
        action()
        self._began += time.monotonic() - paused


def run(
    algorithm: Algorithm,
    shards: Sequence[ShardRef],
    engine: Engine,
    *,
    stop: StopRule,
    watch: Callback | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fitted:
    """Train until the rule says stop; Ctrl-C stops early and keeps what there is."""
    work_dir = checkpoints.directory.parent if checkpoints else None
    with engine.open(shards, work_dir) as placed, CtrlC() as ctrl_c:
        state, history, seconds = _start(algorithm, placed, checkpoints)
        stopwatch = Stopwatch(seconds)
        while True:
            reason = INTERRUPTED if ctrl_c.pressed else stop(algorithm.convergence_history(state, history), stopwatch.seconds())
            if reason := placed.broadcast(reason):
                break
            stats = placed.step(algorithm.step, algorithm.broadcast_view(state))
            history.append(algorithm.objective(state, stats))
            state = algorithm.update(state, stats)
            if watch:
                convergence_history, outcome = (
                    algorithm.convergence_history(state, history),
                    partial(algorithm.final_state, state),
                )
                info = IterationInfo(len(history), stopwatch.seconds(), convergence_history, algorithm.status(state), outcome)
                stopwatch.without(partial(watch, info))
            if checkpoints and placed.broadcast(checkpoints.due()):
                checkpoints.save(placed, algorithm, state, history, stopwatch.seconds())
        seconds = stopwatch.seconds()
        if checkpoints and reason == INTERRUPTED:
            checkpoints.save(placed, algorithm, state, history, seconds)
        kept = algorithm.final_state(state)
        documents = placed.documents(partial(algorithm.document_rows, kept))
        return Fitted(kept, history, documents, reason, seconds)


def _start(algorithm: Algorithm, placed: Session, checkpoints: Checkpoints | None) -> tuple[Any, list[float], float]:
    if checkpoints and checkpoints.resume:
        return checkpoints.load(placed, algorithm)
    return algorithm.init_state(placed.begin(algorithm.init_shard)), [], 0.0
