"""Labeled LDA: the sampler against its twin, and against the posterior itself."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import labeled_gibbs as reference
from semascope import Corpus, ThreadEngine
from semascope.corpus.labels import label_shards, names_in, rows_of_labels
from semascope.engines.exact_sums import Accumulator
from semascope.kernels.labeled_gibbs import sample_labels
from semascope.training.labeled_gibbs import LabeledGibbs, Pairs
from semascope.training.loop import run
from semascope.training.stopping import StopRule


def random_corpus(seed, n_documents=30, n_words=12, n_labels=5, most=4):
    """Documents with one to some labels each; the last has none."""
    generator = np.random.default_rng(seed)
    counts = generator.poisson(0.8, (n_documents, n_words)).astype(float)
    counts[:, 0] += 1
    names = [f"l{number}" for number in range(n_labels)]
    labels = [generator.choice(names, generator.integers(1, most + 1), replace=False).tolist() for _ in range(n_documents)]
    return Corpus.from_matrix(counts, labels=[*labels[:-1], []])


def gibbs_of(corpus, **settings):
    names = names_in(corpus.labels)
    shards = label_shards(corpus.shards(), rows_of_labels(corpus.labels, names))
    pairs = Pairs.of(shards, corpus.n_words, len(names))
    facts = {"n_documents": corpus.n_documents, "n_words": corpus.n_words, "n_tokens": corpus.n_tokens, "seed": 3}
    return LabeledGibbs(n_topics=len(names), **facts, pairs=pairs, **settings), shards


def words_of(shard, n_labels):
    """Documents as lists of words, and their labels: all of them for those without any."""
    documents, labels = [], []
    for d in range(shard.n_documents):
        mine = slice(*shard.rows.ends[d : d + 2])
        documents.append(np.repeat(shard.rows.words[mine], shard.rows.counts[mine].astype(int)).tolist())
        labels.append(shard.labels.numbers[slice(*shard.labels.ends[d : d + 2])].tolist() or list(range(n_labels)))
    return documents, labels


def test_more_words_than_single_precision_can_count_have_a_label_each():
    many = [2.0**24, 1, 1, 1, 0]
    corpus = Corpus.from_matrix([many, [0, 0, 0, 0, 50]], labels=[["a"], ["a", "b"]])
    algorithm, (ref,) = gibbs_of(corpus)
    shard = ref.open()
    local, stats = algorithm.init_shard(shard)
    assert len(local["chosen"]) == sum(many) + 50
    sums = Accumulator()
    sums.add(stats)
    local, _ = algorithm.step(shard, local, algorithm.init_state(sums.total))
    assert np.bincount(local["chosen"][-50:], minlength=2).tolist() == local["own"][-2:].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_a_pass_of_the_sampler_is_that_of_its_twin(seed):
    corpus = random_corpus(seed)
    algorithm, (ref,) = gibbs_of(corpus, alpha=0.3, eta=0.2)
    shard = ref.open()
    local, _ = algorithm.init_shard(shard)
    documents, labels = words_of(shard, algorithm.n_topics)
    ends = np.cumsum([0, *map(len, documents)])
    chosen = [local["chosen"][first:last].tolist() for first, last in zip(ends[:-1], ends[1:], strict=True)]
    expected = reference.sample_labels(documents, labels, chosen, corpus.n_words, algorithm.n_topics, 0.3, 0.2, 17)
    counts, sampled = local["own"].copy(), local["chosen"].copy()
    sizes = np.bincount(algorithm.pairs.labels, counts, algorithm.n_topics).astype(np.int64)
    log_likelihood = sample_labels(
        shard.rows.ends, shard.rows.counts, *shard.labels, local["slots"], counts, sizes, 0.3, 0.2, corpus.n_words,
        np.uint64(17), 0, sampled, algorithm.n_topics,
    )  # fmt: skip
    assert_array_equal(sampled, np.concatenate([np.array(one, dtype=int) for one in chosen]))
    assert_allclose(log_likelihood, expected, rtol=1e-9)
    assert counts.sum() == sizes.sum() == ends[-1]


def test_with_one_shard_the_sampler_finds_the_posterior():
    documents = [[0, 1], [1, 2, 2], [0, 2]]
    labels = [[0, 1], [1, 2], [0, 1, 2]]
    counts = [np.bincount(words, minlength=3) for words in documents]
    corpus = Corpus.from_matrix(np.array(counts, dtype=float), labels=[["l0", "l1"], ["l1", "l2"], []])
    algorithm, shards = gibbs_of(corpus, alpha=0.5, eta=0.4)
    shard = shards[0].open()
    local, _ = algorithm.init_shard(shard)
    places, sizes = local["own"].copy(), np.bincount(algorithm.pairs.labels, local["own"], 3).astype(np.int64)
    chosen, met, n_passes = local["chosen"].copy(), Counter(), 120_000
    for number in range(n_passes):
        sample_labels(
            shard.rows.ends, shard.rows.counts, *shard.labels, local["slots"], places, sizes, 0.5, 0.4, 3,
            np.uint64(number), 0, chosen, 3,
        )  # fmt: skip
        met[tuple(chosen.tolist())] += 1
    expected = reference.posterior(documents, labels, 3, 3, 0.5, 0.4)
    distance = sum(abs(met[places] / n_passes - p) for places, p in expected.items()) / 2
    assert distance < 0.02


def test_any_number_of_threads_samples_the_same_labels():
    corpus = random_corpus(1, n_documents=3000, n_words=200, n_labels=30)
    assert len(corpus.shards()) > 1
    algorithm, shards = gibbs_of(corpus, burn_in=3)
    one, three = (run(algorithm, shards, ThreadEngine(n), stop=StopRule(6, 0.0)) for n in (1, 3))
    assert_array_equal(one.state, three.state)
    assert one.history == three.history
    assert_allclose(one.state.sum(), corpus.n_tokens)


def test_documents_without_labels_are_left_out_where_labels_are_not_open_to_all():
    corpus = random_corpus(2)
    names = names_in(corpus.labels)
    shards = label_shards(corpus.shards(), rows_of_labels(corpus.labels, names))
    pairs = Pairs.of(shards, corpus.n_words, len(names), open_to_all=False)
    facts = {"n_documents": corpus.n_documents, "n_words": corpus.n_words, "n_tokens": corpus.n_tokens, "seed": 3}
    algorithm = LabeledGibbs(n_topics=len(names), **facts, pairs=pairs, open_to_all=False)
    kept = run(algorithm, shards, ThreadEngine(1), stop=StopRule(3, 0.0)).state
    assert_allclose(kept.sum(), corpus.n_tokens - corpus.counts[-1].sum())


def test_planted_labels_are_found():
    generator = np.random.default_rng(0)
    topics = generator.dirichlet(np.full(60, 0.05), size=6)
    labels = [generator.choice(6, 2, replace=False) for _ in range(800)]
    counts = np.array([generator.multinomial(40, topics[mine].mean(axis=0)) for mine in labels], dtype=float)
    corpus = Corpus.from_matrix(counts, labels=[[str(label) for label in mine] for mine in labels])
    algorithm, shards = gibbs_of(corpus, burn_in=10)
    kept = run(algorithm, shards, ThreadEngine(2), stop=StopRule(30, 0.0)).state
    found = np.zeros((6, 60))
    words = np.repeat(np.arange(60), np.diff(algorithm.pairs.ends))
    names = [int(name) for name in names_in(corpus.labels)]
    found[np.array(names)[algorithm.pairs.labels], words] = kept
    found /= found.sum(axis=1, keepdims=True)
    assert np.abs(found - topics).sum(axis=1).max() / 2 < 0.08
