"""Labeled LDA from a stream: the particles against particles with whole tables, and against the posterior itself."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference import labeled_gibbs as labeled
from reference import particle_filter as reference
from semascope.corpus.csr import CSR
from semascope.corpus.labels import LabelRows
from semascope.kernels.particle_filter import N_PAIRS, N_RESAMPLED, N_ROWS
from semascope.kernels.rejuvenation import revisit
from semascope.training.particle_filter import LabeledBatch, ParticleFilter
from semascope.training.particle_state import Particles

N_WORDS, N_LABELS = 12, 6


def random_documents(seed, n_documents=60):
    """Lists of words, ascending, and of labels; some have one label, some no word."""
    generator = np.random.default_rng(seed)
    words = [sorted(generator.integers(N_WORDS, size=generator.integers(0, 9)).tolist()) for _ in range(n_documents)]
    labels = [sorted(generator.choice(N_LABELS, generator.integers(1, 5), replace=False).tolist()) for _ in words]
    return words, labels


def batch_of(documents, labels):
    entries = [np.unique(words, return_counts=True) for words in documents]
    ends = np.cumsum([0, *(len(words) for words, _ in entries)])
    words = np.concatenate([words for words, _ in entries]).astype(np.int32)
    rows = CSR(ends.astype(np.int64), words, np.concatenate([counts for _, counts in entries]).astype(np.float32))
    label_ends = np.cumsum([0, *map(len, labels)]).astype(np.int64)
    of_all = LabelRows(label_ends, np.concatenate([np.array(mine, dtype=np.int32) for mine in labels]))
    for part in (*rows, *of_all):
        part.flags.writeable = False
    return LabeledBatch(rows, of_all, N_LABELS)


def filter_of(**settings):
    plain = {"alpha": 0.4, "eta": 0.3, "published": False, "threshold": 5.0, "rejuvenation": 0, "memory": 0, "n_initial": 0}
    return ParticleFilter(**{**plain, "half_life": None, "seed": 7, **settings})


def tables_of(particles):
    """Words due to labels as each particle has them."""
    tables = particles.tables
    n_pairs, n_rows = tables.numbers[N_PAIRS], tables.numbers[N_ROWS]
    counts = np.zeros((len(tables.logs), N_LABELS, N_WORDS))
    counts[:, tables.label[:n_pairs], tables.word[:n_pairs]] = tables.base[:n_pairs]
    for row, pair in enumerate(tables.pair[:n_rows]):
        counts[:, tables.label[pair], tables.word[pair]] += tables.differ[row]
    return counts


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_particles_that_share_tables_are_those_that_have_their_own(seed, published):
    learner, particles = filter_of(published=published), Particles.none(10, N_WORDS)
    twin = reference.Filter(10, N_WORDS, N_LABELS, 0.4, 0.3, learner._seeds, 5.0, published=published)
    documents, labels = random_documents(seed)
    learner.learn(particles, batch_of(documents, labels))
    for words, mine in zip(documents, labels, strict=True):
        if words:
            twin.learn(words, mine)
    assert twin.n_resampled == particles.tables.numbers[N_RESAMPLED] > 2
    assert_allclose(tables_of(particles), twin.counts)
    assert_allclose(particles.tables.sizes[:, None] + particles.tables.beside, twin.counts.sum(axis=2).T)
    assert_allclose(particles.tables.logs, twin.logs, rtol=1e-9, atol=1e-12)
    assert_allclose(particles.scores[0], twin.score, rtol=1e-9)


def distance_from_posterior(*, published, n_runs=5, n_particles=20_000):
    """Total variation between the weighted particles of several runs and the enumerated posterior of three documents."""
    documents, labels = [[0, 1], [1, 2, 2], [0, 2]], [[0, 1], [1, 2], [0, 2]]
    found = Counter()
    for seed in range(n_runs):
        particles = Particles.none(n_particles, 3)
        learner = filter_of(published=published, threshold=0.0, seed=seed, alpha=0.5, eta=0.4)
        learner.learn(particles, batch_of(documents, labels)._replace(n_labels=3))
        for places, weight in zip(particles.memory.open[:7].T.tolist(), particles.weights, strict=True):
            found[tuple(places)] += weight / n_runs
    expected = labeled.posterior(documents, labels, 3, 3, 0.5, 0.4)
    return sum(abs(found[places] - p) for places, p in expected.items()) / 2


def test_many_particles_find_the_posterior():
    assert distance_from_posterior(published=False) < 0.02


def test_weights_as_published_are_biased():
    assert distance_from_posterior(published=True) > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_looking_again_shares_words_out_as_its_twin_does(seed):
    documents, labels = random_documents(seed, 40)
    particles = Particles.none(4, N_WORDS)
    filter_of(memory=10_000, n_initial=30).learn(particles, batch_of(documents, labels))
    tables, memory = particles.tables, particles.memory
    n_pairs, table = tables.numbers[N_PAIRS], np.zeros((N_LABELS, N_WORDS))
    table[tables.label[:n_pairs], tables.word[:n_pairs]] = tables.base[:n_pairs]
    sizes = tables.sizes.copy()
    for document in range(5):
        _, entry, slot, label = memory.firsts[document]
        _, last_entry, last_slot, last_label = memory.firsts[document + 1]
        mine, counts = memory.labels[label:last_label], memory.counts[entry:last_entry].astype(float)
        words = tables.word[memory.slots[slot : last_slot : len(mine)]]
        shares = memory.shares[slot:last_slot].astype(float).reshape(len(words), len(mine))
        reference.look_again(words, counts, mine, shares, table, sizes, 0.4, 0.3)
        revisit(tables, memory, document, 0.4, 0.3, 1.0)
        assert_allclose(memory.shares[slot:last_slot], shares.ravel(), rtol=1e-5, atol=1e-7)
    assert_allclose(tables.base[:n_pairs], table[tables.label[:n_pairs], tables.word[:n_pairs]], rtol=1e-5, atol=1e-6)


def test_what_particles_know_adds_up_to_all_words_however_often_they_look_again():
    documents, labels = random_documents(5, 400)
    particles = Particles.none(10, N_WORDS)
    filter_of(memory=500, n_initial=20, rejuvenation=3).learn(particles, batch_of(documents, labels))
    assert_allclose(tables_of(particles).sum(axis=(1, 2)), sum(map(len, documents)), rtol=1e-6)
    assert tables_of(particles).min() > -1e-4
    remembered = (
        particles.memory.firsts[particles.memory.numbers[2], 0] - particles.memory.firsts[particles.memory.numbers[0], 0]
    )
    assert remembered <= 500 + 100
