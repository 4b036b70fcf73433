"""Attribution and fold-in over labels: what all callers share against twins written for reading."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import attribution as reference
from reference import label_inference as label_folding
from semascope.corpus.corpus import Corpus
from semascope.corpus.labels import rows_of_labels
from semascope.inference.attribution import labels_of_words, most_probable, topics_of_entries, topics_of_words
from semascope.inference.labels import fold_in_labels, fold_in_words, word_probabilities
from semascope.inference.topics import topic_shares
from semascope.training.particle_state import LabelCounts

N_WORDS, N_LABELS, ALPHA = 12, 5, 0.1


def some_words(generator):
    """Counts of some pairs of words and labels."""
    table = generator.poisson(0.7, (N_WORDS, N_LABELS)) * 3.0
    ends = np.concatenate([[0], np.cumsum((table > 0).sum(axis=1))])
    return LabelCounts.of(ends, np.nonzero(table)[1], table[table > 0], N_LABELS, 0.2)


@pytest.mark.parametrize("n_topics", [0, 1, 2, 7])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_most_probable_topic_is_that_of_the_twin(n_topics, dtype):
    generator = np.random.default_rng(n_topics)
    theta = generator.dirichlet([0.3] * n_topics, 40).astype(dtype) if n_topics else np.zeros((40, 0), dtype)
    p_words = (generator.random((40, n_topics)) * (generator.random((40, n_topics)) < 0.5)).astype(dtype)
    p_words[0] = 0
    found, expected = most_probable(theta, p_words), reference.most_probable(theta, p_words)
    assert found.topics.tolist() == [topic for topic, _ in expected]
    assert_allclose(found.weights, [weight for _, weight in expected], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_words_of_a_text_have_the_topics_of_its_entries(seed):
    generator = np.random.default_rng(seed)
    topics, theta = generator.dirichlet([0.1] * N_WORDS, 3).T, generator.dirichlet([0.5] * 3)
    words = generator.integers(N_WORDS, size=30).astype(np.int32)
    entries = Corpus.from_matrix(np.bincount(words, minlength=N_WORDS)[None]).rows
    by_word = dict(zip(entries.words.tolist(), zip(*topics_of_entries(entries, topics, theta[None]), strict=True), strict=True))
    found = topics_of_words(words, topics, theta)
    assert list(zip(*found, strict=True)) == [by_word[word] for word in words.tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_words_of_a_text_have_the_labels_of_the_twin(seed):
    generator = np.random.default_rng(seed)
    known, labels = some_words(generator), np.array([0, 2, 4], np.int32)
    words = generator.integers(N_WORDS, size=30).astype(np.int32)
    theta = generator.dirichlet([0.5] * 3)
    table = label_folding.phi(known)[labels][:, words].T
    assert_allclose(word_probabilities(words, labels, known), table, rtol=1e-12)
    expected = reference.most_probable(np.tile(theta, (30, 1)), table)
    found = labels_of_words(words, labels, theta, known)
    assert found.topics.tolist() == [labels[place] for place, _ in expected]
    assert_allclose(found.weights, [weight for _, weight in expected], rtol=1e-12)
    none = labels_of_words(words, labels[:0], theta[:0], known)
    assert (set(none.topics.tolist()), none.weights.any()) == ({-1}, False)


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_labels_are_near_where_the_twin_converges(seed):
    generator = np.random.default_rng(seed)
    known, counts = some_words(generator), generator.poisson(1.5, (6, N_WORDS)).astype(float)
    labels = [np.flatnonzero(generator.random(N_LABELS) < 0.6).tolist() or [1] for _ in counts]
    rows = rows_of_labels(pl.Series([[str(label) for label in mine] for mine in labels]), [*map(str, range(N_LABELS))])
    prior = generator.uniform(0.05, 1, len(rows.numbers))
    for alpha in (ALPHA, prior):
        theta = fold_in_labels(Corpus.from_matrix(counts).rows, rows, alpha, known)
        for d, mine in enumerate(labels):
            own = slice(*rows.ends[d : d + 2])
            of_each = np.broadcast_to(alpha, theta.shape)[own]
            assert_allclose(theta[own], label_folding.fold_labels(counts[d], mine, of_each, known, 3000), atol=0.005)


def test_shares_of_one_text_are_those_of_its_row():
    generator = np.random.default_rng(0)
    known, words = some_words(generator), generator.integers(N_WORDS, size=20).astype(np.int32)
    rows = rows_of_labels(pl.Series([["0", "3"]]), [*map(str, range(N_LABELS))])
    counted = Corpus.from_matrix(np.bincount(words, minlength=N_WORDS)[None]).rows
    assert_array_equal(fold_in_words(words, rows.numbers, ALPHA, known), fold_in_labels(counted, rows, ALPHA, known))


def test_shares_of_topics_weigh_documents_by_their_words():
    generator = np.random.default_rng(0)
    theta, lengths = generator.dirichlet([0.5] * 4, 9), generator.integers(0, 30, 9).astype(float)
    expected = [sum(n * row[topic] for n, row in zip(lengths, theta, strict=True)) / sum(lengths) for topic in range(4)]
    assert_allclose(topic_shares([theta[:5], theta[5:]], [lengths[:5], lengths[5:]]), expected, rtol=1e-12)
    assert not topic_shares([theta], [0 * lengths]).any()
