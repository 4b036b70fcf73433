"""How good a model is, as far as its corpus tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from semascope.corpus.corpus import Corpus
from semascope.errors import InputError
from semascope.judging import FITTED_TO, judges_of

COHERENCE_WORDS = 10


@dataclass(frozen=True)
class Quality:
    """What there is to say of how good a model is.

    perplexity   of the documents that it was judged by, by the model's own prior; None where none of them has words
    documents    how many these are
    held_out     whether they are others than it was fitted to
    coherence    npmi of each topic's top words, in the corpus
    diversity    share of distinct words among the top 25 of all topics
    """

    perplexity: float | None
    documents: int
    held_out: bool
    coherence: Sequence[float]
    diversity: float


def quality_of(model: Any, corpus: Corpus) -> Quality:
    """Judge a model by a corpus; by documents held out of its fit, if there are such."""
    judges, relation = (corpus, "") if model.learns_from_streams else judges_of(model, corpus)
    try:
        perplexity = model.perplexity(judges)
    except InputError:  # no document has words that the model knows
        perplexity = None
    coherence = model.coherence(corpus, "npmi", COHERENCE_WORDS).tolist()
    return Quality(perplexity, judges.n_documents, relation != FITTED_TO, coherence, model.diversity())
