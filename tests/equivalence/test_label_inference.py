"""Documents and labels: kernels against their twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import label_inference as reference
from semascope import Corpus
from semascope.corpus.labels import LabelRows
from semascope.corpus.shards import as_read_only
from semascope.kernels.label_inference import fold_labels, log_likelihood_of_labels, score_labels
from semascope.training.particle_state import LabelCounts

N_WORDS, N_LABELS = 14, 6


def some_words(generator):
    """Counts of some pairs of words and labels."""
    table = generator.poisson(0.7, (N_WORDS, N_LABELS)) * generator.random((N_WORDS, N_LABELS)) * 9
    ends = np.concatenate([[0], np.cumsum((table > 0).sum(axis=1))])
    return LabelCounts.of(ends, np.nonzero(table)[1], table[table > 0], N_LABELS, 0.2)


def some_documents(generator, n=20):
    """Counts of words, and labels of documents; the last document has no words, the first no labels."""
    counts = generator.poisson(0.8, (n, N_WORDS)).astype(np.float64)
    counts[:, 0] += 1
    counts[-1] = 0
    labels = [np.flatnonzero(generator.random(N_LABELS) < 0.5).tolist() for _ in range(n)]
    labels[0] = []
    ends = np.cumsum([0, *map(len, labels)])
    rows = LabelRows(as_read_only(ends, np.int64), as_read_only(np.concatenate(labels), np.int32))
    return counts, labels, Corpus.from_matrix(counts).rows, rows


@pytest.mark.parametrize("seed", range(4))
def test_folding_in_over_some_labels_is_that_of_its_twin(seed):
    generator = np.random.default_rng(seed)
    known, (counts, labels, rows, given) = some_words(generator), some_documents(generator)
    alpha, theta = generator.uniform(0.05, 1, len(given.numbers)), np.empty(len(given.numbers))
    fold_labels(*rows, *given, as_read_only(alpha, np.float64), *known.for_kernels(), 25, -1.0, theta)
    totals, tokens = np.empty(len(counts)), np.empty(len(counts))
    log_likelihood_of_labels(*rows, *given, theta, *known.for_kernels(), totals, tokens)
    for d, mine in enumerate(labels):
        if mine:
            own = slice(*given.ends[d : d + 2])
            assert_allclose(theta[own], reference.fold_labels(counts[d], mine, alpha[own], known, 25), rtol=1e-10)
            assert_allclose(totals[d], reference.log_likelihood_of_labels(counts[d], mine, theta[own], known), rtol=1e-10)
    assert_array_equal(tokens, counts.sum(axis=1))


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_labels_are_those_of_their_twin_and_leave_out_what_the_document_taught(seed):
    generator = np.random.default_rng(seed)
    known, (counts, labels, rows, given) = some_words(generator), some_documents(generator)
    weights = generator.random(N_WORDS) + 0.1
    squares = np.bincount(known.labels, (known.counts * weights[known.words()]) ** 2, N_LABELS)
    best, cosines = np.empty((len(counts), 4), np.int32), np.empty((len(counts), 4))
    prior = as_read_only(np.full(len(given.numbers), 0.3), np.float64)
    for kernel_labels, own_labels in ((given, labels), (LabelRows(given.ends * 0, given.numbers[:0]), [[]] * len(counts))):
        score_labels(
            *rows, *(as_read_only(part, part.dtype) for part in kernel_labels), prior[: len(kernel_labels.numbers)],
            *known.for_kernels(), *(as_read_only(one, np.float64) for one in (weights, squares)), N_LABELS - 1, best, cosines,
        )  # fmt: skip
        for d, own in enumerate(own_labels):
            expected = reference.score_labels(counts[d], own, np.full(len(own), 0.3), known, weights)[: N_LABELS - 1]
            order = [k for k in np.argsort(-expected, kind="stable")[:4] if expected[k] > 0]
            assert best[d].tolist() == order + [-1] * (4 - len(order))
            assert_allclose(cosines[d, : len(order)], expected[order], rtol=1e-9)
