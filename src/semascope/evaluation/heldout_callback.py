"""Callback that tracks held-out perplexity, under the model's own prior, during training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.engines.base import Engine, Session
from semascope.evaluation.heldout import Completion, perplexity_of_placed
from semascope.training.loop import Callback, Fitted, IterationInfo

Step = list[float]
"""Iteration, training seconds and held-out perplexity."""

PriorOf = Callable[[Any], Completion]
"""Function from a training state to the model's own document prior."""


class HeldOutPath:
    """Callback that evaluates the topics on held-out documents after some iterations.

    All processes must invoke it, since all take part in the evaluation.

    Attributes
    ----------
    path : list of steps
        Measurements so far.
    """

    def __init__(self, placed: Session, prior_of: PriorOf) -> None:
        self._placed = placed
        self._prior_of = prior_of
        self.path: list[Step] = []

    def __call__(self, info: IterationInfo, /) -> None:
        if is_due(info.iteration):
            self._evaluate(info.iteration, info.seconds, info.outcome())

    def finish(self, fitted: Fitted) -> list[Step]:
        """Evaluate the final topics and return all measurements."""
        n_iterations = len(fitted.history)
        if not self.path or self.path[-1][0] != n_iterations:
            self._evaluate(n_iterations, fitted.seconds, fitted.state)
        return self.path

    def note(self) -> str:
        """Return the latest perplexity as a status note."""
        return f"held-out perplexity {self.path[-1][2]:,.0f}" if self.path else ""

    def _evaluate(self, iteration: int, seconds: float, state: Any) -> None:
        perplexity = perplexity_of_placed(state.topics, self._placed, prior=self._prior_of(state))
        self.path.append([iteration, self._placed.broadcast(seconds), perplexity])  # one clock for all


@contextmanager
def heldout_callback(
    heldout: Corpus | None, train: Corpus, engine: Engine, work_dir: Path | None, prior_of: PriorOf
) -> Iterator[HeldOutPath | None]:
    """Open held-out documents on the engine and yield a callback that evaluates a model on them; None without documents."""
    if heldout is None:
        yield None
        return
    words = np.zeros((train.n_words, 1), dtype=np.float32)
    for shard in train.shards():
        words[shard.open().rows.words] = 1
    with engine.open(heldout.shards(), work_dir) as placed:
        perplexity_of_placed(words / max(words.sum(), 1), placed)  # fails now rather than after hours of training
        yield HeldOutPath(placed, prior_of)


def compose(heldout: HeldOutPath | None, show: Callback | None) -> Callback | None:
    """Compose two callbacks: evaluate on held-out documents, then show the result in the status."""
    if heldout is None or show is None:
        return heldout or show

    def evaluate_and_show(info: IterationInfo, /) -> None:
        heldout(info)
        show(info._replace(status=", ".join(part for part in (info.status, heldout.note()) if part)))

    return evaluate_and_show


def is_due(iteration: int) -> bool:
    """Return whether to evaluate after this iteration: often at first, ever more rarely later.

    Examples
    --------
    >>> [iteration for iteration in range(100) if is_due(iteration)]
    [1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93]
    """
    return iteration in takewhile(lambda due: due <= iteration, _due())


def _due() -> Iterator[int]:
    due = 1
    while True:
        yield due
        due += -(-due // 2)
