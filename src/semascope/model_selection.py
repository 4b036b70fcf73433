"""Model evaluation, and selection of the number of topics."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from semascope.corpus.corpus import Corpus
from semascope.errors import InputError, InterruptedFitWarning
from semascope.evaluation.coherence import MEASURES, SLIDING, slides_over_texts
from semascope.evaluation.heldout import COMMON
from semascope.models.topic_model import TopicModel

CLOSE_ENOUGH = 0.01
"""Relative difference of perplexity that counts as a tie: another seed may change it by as much."""


# --- held-out documents ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """Training documents and held-out documents of a corpus."""

    whole: Corpus
    share: float
    seed: int
    train: Corpus
    heldout: Corpus

    def facts(self) -> dict[str, Any]:
        """Return the facts needed to reproduce the split."""
        path = str(self.whole.path) if self.whole.path else None
        return {"path": path, "fingerprint": self.whole.fingerprint, "heldout": self.share, "seed": self.seed}


def hold_out(corpus: Corpus, share: float, seed: int) -> Split:
    """Hold out a random share of the documents; both parts must be nonempty.

    Examples
    --------
    >>> split = hold_out(Corpus.from_texts(["a word"] * 10), 0.2, seed=0)
    >>> len(split.train), len(split.heldout)
    (8, 2)
    """
    if not 0.0 < share < 1.0:
        msg = f"the share of documents to hold out must lie between 0 and 1, but was {share:g}."
        raise InputError(msg)
    train, heldout = corpus.split(share, seed=seed)
    if not train.n_documents or not heldout.n_documents:
        purpose = "evaluate on" if train.n_documents else "train on"
        msg = f"holding out a share of {share:g} of {corpus.n_documents:,} documents leaves none to {purpose}."
        raise InputError(msg)
    return Split(corpus, share, seed, train, heldout)


# --- one model -------------------------------------------------------------------------------------------------------------

HELD_OUT = "held out"
FITTED_TO = "fitted to"
OTHERS = "others"


@dataclass(frozen=True)
class Report:
    """Evaluation of a fitted model.

    documents   number of evaluation documents
    relation    their relation to the model: "held out" from its fit, "fitted to", or "others"
    perplexity  perplexity under the model's own prior
    coherence   of each topic, by measure
    windows     windows of c_v: "110 words" or "documents"
    diversity   fraction of distinct words among the top 25 of all topics
    perplexity_common
                perplexity under the common prior of 0.1 per topic
    """

    documents: int
    relation: str
    perplexity: float
    coherence: dict[str, list[float]]
    windows: str
    diversity: float
    perplexity_common: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict of plain values."""
        return asdict(self)


def own_corpus(model: TopicModel) -> Corpus:
    """Open the corpus that a model was fitted to, or held documents out from."""
    about: dict[str, Any] = model.corpus_
    path = about["path"] or about.get("split_from", {}).get("path")
    if path is None:
        msg = "the model was not fitted to a corpus on disk; name a corpus with --corpus."
        raise InputError(msg)
    if not Path(path).exists():
        msg = f"the corpus that the model was fitted to is no longer at {path}; name a corpus with --corpus."
        raise InputError(msg)
    return Corpus.open(path)


def report(model: TopicModel, corpus: Corpus, n_words: int = 10) -> Report:
    """Evaluate a model on a corpus; perplexity uses the documents held out from its fit, if they are part of the corpus."""
    judges, relation = judges_of(model, corpus)
    return Report(
        judges.n_documents,
        relation,
        model.perplexity(judges),
        {measure: model.coherence(corpus, measure, n_words).tolist() for measure in MEASURES},
        f"{SLIDING} words" if slides_over_texts(corpus) else "documents",
        model.diversity(),
        model.perplexity(judges, prior=COMMON),
    )


def judges_of(model: TopicModel, corpus: Corpus) -> tuple[Corpus, str]:
    """Return the evaluation documents and their relation to the model."""
    about: dict[str, Any] = getattr(model, "corpus_", {})  # a stream is learned from no corpus
    if corpus.fingerprint == about.get("fingerprint"):
        return corpus, FITTED_TO
    split_from = about.get("split_from")
    if split_from and corpus.fingerprint == split_from["fingerprint"]:
        split = hold_out(corpus, split_from["heldout"], split_from["seed"])
        if split.train.fingerprint == about["fingerprint"]:
            return split.heldout, HELD_OUT
    return corpus, OTHERS


# --- many models -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """Result of one fit in a sweep.

    perplexity  held-out perplexity under the model's own prior
    coherence   mean NPMI of the topics in the training documents
    diversity   fraction of distinct words among the top 25 of all topics
    seconds     time of the fit
    """

    topics: int
    seed: int
    perplexity: float
    coherence: float
    diversity: float
    seconds: float
    iterations: int
    stopped_by: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict of plain values."""
        return asdict(self)


def sweep(
    make: Callable[..., TopicModel], split: Split, topics: Sequence[int], seeds: Sequence[int]
) -> Iterator[tuple[Trial, TopicModel]]:
    """Fit and evaluate a model for each number of topics and each seed, and yield each result.

    Parameters
    ----------
    make : callable
        Model factory that accepts ``n_components`` and ``random_state``.
    split : Split
        Training and evaluation documents.
    topics, seeds : sequences of int
        Numbers of topics and seeds to try.
    """
    max_topics = min(split.train.n_documents, split.train.n_words)
    if topics and max(topics) > max_topics:
        msg = (
            f"{max(topics)} topics are too many for the data: with {split.train.n_documents:,} training documents "
            f"and {split.train.n_words:,} words, use at most {max_topics}."
        )
        raise InputError(msg)
    for n_topics in topics:
        for seed in seeds:
            model = make(n_components=n_topics, random_state=seed)
            yield _fit_trial(model, split, n_topics, seed), model


def _fit_trial(model: Any, split: Split, n_topics: int, seed: int) -> Trial:
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)
        model.fit(split.train)
    seconds = time.monotonic() - began
    if model.stopped_by_ == "interrupted":  # an incomplete fit is no trial
        raise KeyboardInterrupt
    return Trial(
        n_topics,
        seed,
        model.perplexity(split.heldout),
        float(model.coherence(split.train).mean()),
        model.diversity(),
        seconds,
        model.n_iter_,
        model.stopped_by_,
    )


def by_topics(trials: Sequence[Trial]) -> list[tuple[int, float, float]]:
    """Return the mean perplexity and mean coherence for each number of topics."""
    ordered = sorted(trials, key=lambda trial: trial.topics)
    grouped = [(topics, list(some)) for topics, some in groupby(ordered, key=lambda trial: trial.topics)]
    return [(topics, fmean(t.perplexity for t in some), fmean(t.coherence for t in some)) for topics, some in grouped]


@dataclass(frozen=True)
class Suggestion:
    """Suggested number of topics, with the reason."""

    topics: int
    reason: str


def suggest(trials: Sequence[Trial]) -> Suggestion:
    """Select the fewest topics whose held-out perplexity is within 1 % of the best; the reason mentions other coherence optima.

    Examples
    --------
    >>> trials = [Trial(k, 0, p, 0.1, 0.9, 1.0, 50, "converged") for k, p in ((10, 1500.0), (20, 1205.0), (50, 1200.0))]
    >>> suggest(trials).topics
    20
    """
    means = by_topics(trials)
    best_topics, best, _ = min(means, key=lambda mean: mean[1])
    fewest = next(topics for topics, perplexity, _ in means if perplexity <= best * (1 + CLOSE_ENOUGH))
    most_coherent = max(means, key=lambda mean: mean[2])[0]
    if len(means) == 1:
        return Suggestion(fewest, "no other number was tried")
    if fewest == best_topics:
        reason = f"the lowest held-out perplexity, {best:,.0f}, and no smaller number comes within {CLOSE_ENOUGH:.0%} of it"
    else:
        reason = (
            f"the smallest number within {CLOSE_ENOUGH:.0%} of the lowest held-out perplexity, {best:,.0f} with {best_topics}"
        )
    if fewest == means[-1][0]:
        reason += "; it is the largest that was tried, so more may be better still"
    if most_coherent != fewest:
        reason += f"; the most coherent are {most_coherent}"
    return Suggestion(fewest, reason)
