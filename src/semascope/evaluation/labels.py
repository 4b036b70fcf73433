"""Held-out perplexity of documents with labels, by document completion.

Each document's words are divided at random into halves. How much is due to each of its labels is estimated on one half, with
the prior α, and the other half is predicted. A document without labels may use all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from semascope.corpus.labels import LabelledRef, LabelledShard
from semascope.corpus.rows import Rows
from semascope.corpus.shards import frozen, read_only
from semascope.engines.base import Engine, Locals
from semascope.engines.exact import Scalars
from semascope.evaluation.heldout import Score, perplexity_by
from semascope.inference.labels import fold_in_labels
from semascope.kernels.heldout import halve
from semascope.kernels.label_folding import log_likelihood_of_labels
from semascope.training.labelwords import LabelWords


def perplexity_with_labels(
    known: LabelWords, shards: Sequence[LabelledRef], engine: Engine, *, alpha: float, seed: int = 0
) -> float:
    """Give exp(−mean log P(word | document)) over the predicted halves.

    Parameters
    ----------
    known : LabelWords
        What is known of labels. Words of which nothing is known are left out.
    shards : sequence of labelled shards
        The held-out documents.
    alpha : float
        Prior of the labels of a document.
    seed : int, default=0
        Decides the halves.
    """
    with engine.place(shards) as placed:
        score = placed.begin(partial(_score_shard, known=known, alpha=alpha, seed=seed))
    return perplexity_by(score)


def _score_shard(shard: LabelledShard, known: LabelWords, alpha: float, seed: int) -> tuple[Locals, Score]:
    halves = halve(*shard.rows, frozen(np.diff(known.ends) > 0, np.bool_), shard.first_document, seed)
    seen, predicted = (read_only(Rows(*half)) for half in halves)
    labels = shard.labels.opened(known.n_labels)
    theta = fold_in_labels(seen, labels, alpha, known)
    totals, tokens = np.empty(shard.n_documents), np.empty(shard.n_documents)
    log_likelihood_of_labels(*predicted, *labels, theta, *known.for_kernels(), totals, tokens)
    return {}, Score(Scalars((math.fsum(totals), math.fsum(tokens))))
