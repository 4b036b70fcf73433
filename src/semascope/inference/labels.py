"""Label inference: proportions of the candidate labels of documents, by folding in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semascope.corpus.csr import CSR
from semascope.corpus.labels import LabelRows
from semascope.corpus.shards import as_read_only
from semascope.inference.tolerances import LABELS
from semascope.kernels.label_inference import fold_labels, look_up
from semascope.training.particle_state import LabelCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray


def fold_in_labels(rows: CSR, labels: LabelRows, alpha: float | NDArray[np.float64], known: LabelCounts) -> NDArray[np.float64]:
    """Infer P(label | document) of the candidate labels of each document, by EM with P(word | label) held fixed.

    Parameters
    ----------
    rows : CSR
        The documents.
    labels : LabelRows
        Candidate labels of each document, ascending.
    alpha : float or ndarray of shape (n_candidates,)
        Dirichlet prior, for all labels or for each entry of `labels`.
    known : LabelCounts
        Word counts of the labels.

    Returns
    -------
    ndarray of shape (n_candidates,)
        P(label | document) of each entry of `labels`; sums to one over each document.
    """
    theta, priors = np.empty(len(labels.numbers)), np.full(len(labels.numbers), alpha, np.float64)
    fold_labels(*rows, *labels, as_read_only(priors, np.float64), *known.for_kernels(), *LABELS, theta)
    return theta


def fold_in_words(words: NDArray[np.int32], labels: NDArray[np.int32], alpha: float, known: LabelCounts) -> NDArray[np.float64]:
    """Infer P(label | document) of one document from its tokens and its candidate labels, ascending."""
    distinct, counts = np.unique(words, return_counts=True)
    rows = CSR(
        as_read_only(np.array([0, len(distinct)]), np.int64), as_read_only(distinct, np.int32), as_read_only(counts, np.float32)
    )
    of_document = LabelRows(as_read_only(np.array([0, len(labels)]), np.int64), as_read_only(labels, np.int32))
    return fold_in_labels(rows, of_document, alpha, known)


def word_probabilities(words: NDArray[np.int32], labels: NDArray[np.int32], known: LabelCounts) -> NDArray[np.float64]:
    """Return P(word | label) with words in rows and labels, which are ascending, in columns."""
    table = np.empty(len(words) * len(labels))
    look_up(as_read_only(words, np.int32), as_read_only(labels, np.int32), *known.for_kernels(), table)
    return table.reshape(len(words), len(labels))
