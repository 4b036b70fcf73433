"""Held-out perplexity, by the model's own prior, while a model is trained."""

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
"""Iteration, seconds of training, and held-out perplexity."""

PriorOf = Callable[[Any], Completion]
"""Returns the model's own prior at a state of the run."""


class HeldOutPath:
    """Watches a run, and judges its topics now and then by documents that are placed on the engine.

    Every process must watch, as all of them take part in judging. `prior_of` tells the prior of the documents at a state.

    Attributes
    ----------
    path : list of steps
        What was found so far.
    """

    def __init__(self, placed: Session, prior_of: PriorOf) -> None:
        self._placed = placed
        self._prior_of = prior_of
        self.path: list[Step] = []

    def __call__(self, info: IterationInfo, /) -> None:
        if is_due(info.iteration):
            self._judge(info.iteration, info.seconds, info.outcome())

    def finish(self, fitted: Fitted) -> list[Step]:
        """Judge the last topics, too, and give the whole path."""
        n_iterations = len(fitted.history)
        if not self.path or self.path[-1][0] != n_iterations:
            self._judge(n_iterations, fitted.seconds, fitted.state)
        return self.path

    def note(self) -> str:
        """Tell the last perplexity."""
        return f"held-out perplexity {self.path[-1][2]:,.0f}" if self.path else ""

    def _judge(self, iteration: int, seconds: float, state: Any) -> None:
        perplexity = perplexity_of_placed(state.topics, self._placed, prior=self._prior_of(state))
        self.path.append([iteration, self._placed.broadcast(seconds), perplexity])  # one clock for all


@contextmanager
def heldout_callback(
    heldout: Corpus | None, train: Corpus, engine: Engine, work_dir: Path | None, prior_of: PriorOf
) -> Iterator[HeldOutPath | None]:
    """Hold documents ready to judge a model of other ones by, after seeing that they can be; of None make None."""
    if heldout is None:
        yield None
        return
    words = np.zeros((train.n_words, 1), dtype=np.float32)
    for shard in train.shards():
        words[shard.open().rows.words] = 1
    with engine.open(heldout.shards(), work_dir) as placed:
        perplexity_of_placed(words / max(words.sum(), 1), placed)  # to know before hours of training that it can be done
        yield HeldOutPath(placed, prior_of)


def compose(heldout: HeldOutPath | None, show: Callback | None) -> Callback | None:
    """Have both watch a run, and show people what was found on the documents held out."""
    if heldout is None or show is None:
        return heldout or show

    def watch(info: IterationInfo, /) -> None:
        heldout(info)
        show(info._replace(status=", ".join(part for part in (info.status, heldout.note()) if part)))

    return watch


def is_due(iteration: int) -> bool:
    """Tell whether to judge after this iteration: often at first, when much changes, and rarely in the end.

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
