"""Batch training loop: init, step, update, until a stopping rule applies."""

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
    """Batch algorithm: a frozen dataclass of settings, whose methods are pure functions.

    Only `update` may reuse the memory of its state for the next one: large tables are expensive to allocate.
    """

    state_type: ClassVar[type]
    """A named tuple of arrays and numbers."""
    objective_name: ClassVar[str]
    """Name of the objective in output."""
    per_token: ClassVar[bool]
    """Whether the objective is a sum over all tokens, displayed per token."""

    def init_shard(self, shard: Shard) -> tuple[Locals, Stats]:
        """Initialize the locals and statistics of a shard, on a worker."""

    def init_state(self, stats: Any) -> Any:
        """Initialize the state, once."""

    def step(self, shard: Shard, local: Locals, state: Any) -> tuple[Locals, Stats]:
        """Compute the next locals and statistics of a shard, on a worker, in every iteration."""

    def update(self, state: Any, stats: Any) -> Any:
        """Compute the next state, once in every iteration."""

    def broadcast_view(self, state: Any) -> Any:
        """Return the part of the state that `step` needs: the rest is not sent to workers."""

    def objective(self, state: Any, stats: Any) -> float:
        """Return the quantity to maximize, before the step that yielded these statistics."""

    def convergence_history(self, state: Any, history: Sequence[float]) -> Sequence[float]:
        """Return the objectives to test for convergence: those of the current phase."""

    def final_state(self, state: Any) -> Any:
        """Return the result of a run that ends with this state."""

    def document_rows(self, kept: Any, local: Locals) -> NDArray[Any]:
        """Return the result for the documents of a shard, one row for each, given the final state."""

    def status(self, state: Any) -> str:
        """Return what to display beside the objective."""


class IterationInfo(NamedTuple):
    """Status of a run after an iteration.

    iteration   iterations so far
    seconds     time of these, without callbacks
    history     the objectives to test for convergence
    status      what else to display
    outcome     returns the result of the run if it ended now
    """

    iteration: int
    seconds: float
    history: Sequence[float]
    status: str
    outcome: Callable[[], Any]


class Callback(Protocol):
    """Callback invoked after each iteration: on every process, or only on one."""

    def __call__(self, info: IterationInfo, /) -> None:
        """Process the status after an iteration."""


@dataclass(frozen=True)
class Fitted:
    """Result of a run.

    state       the last state
    history     the objective, one value for each iteration
    documents   one row for each document
    stopped_by  why it ended: converged, iterations, time or interrupted
    seconds     time of all iterations, without callbacks, including those before a resume
    """

    state: Any
    history: list[float]
    documents: NDArray[Any]
    stopped_by: str
    seconds: float


class Stopwatch:
    """Clock that can be paused."""

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic() - seconds

    def seconds(self) -> float:
        return time.monotonic() - self._began

    def without(self, action: Callable[[], None]) -> None:
        """Run an action with the clock paused."""
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
    """Run an algorithm until the rule says stop; Ctrl-C stops early and keeps the results so far."""
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
