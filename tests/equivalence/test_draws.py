"""Draws: kernels against their twins, what they sample against enumeration, and priors against maximum likelihood."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln

from reference import draws as reference
from reference import labeled_gibbs as labeled
from semascope import Corpus
from semascope.inference.draws import Chains, sample_assignments
from semascope.kernels.draws import (
    bin_edges,
    choose_first,
    count_assignments,
    draw_topics,
    gamma_variate,
    note_exceeding,
    sweep_documents,
)
from semascope.kernels.jit import strict_kernel
from semascope.training.cvb0_sampled import EDGES, MIDDLES, NOT_KEPT, RATE, padded, sampled_alpha, sampled_eta
from semascope.training.hyperpriors import WordPrior

N_WORDS = 12


def random_documents(seed, n_documents=25):
    """Rows of counts, and the same as lists of words; some documents are empty."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (n_documents, N_WORDS)) * (rng.random((n_documents, 1)) > 0.2)
    counts[0] = 0
    return Corpus.from_matrix(counts.astype(float)).rows, [np.repeat(np.arange(N_WORDS), row).tolist() for row in counts]


def filled(table):
    """A table in single precision, filled up to whole groups of lanes."""
    result = np.zeros((len(table), padded(table.shape[1])), np.float32)
    result[:, : table.shape[1]] = table
    return result


def random_topics(seed, n_topics, *, unknown=3):
    """P(word | topic), with one word that no topic has."""
    topics = np.random.default_rng(seed).dirichlet(np.full(N_WORDS, 0.5), n_topics).T.astype(np.float32)
    topics[unknown] = 0
    return topics


def in_lists(flat, documents):
    ends = np.cumsum([0, *map(len, documents)])
    return [flat[first:last].tolist() for first, last in zip(ends[:-1], ends[1:], strict=True)]


def keys_of(seed, n):
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


# --- twins -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_document", [False, True], ids=["one prior", "a prior for each document"])
@pytest.mark.parametrize(("seed", "n_topics"), [(0, 1), (1, 3), (2, 8), (3, 11), (4, 16), (5, 21)])
def test_sweeps_are_those_of_the_twin(seed, n_topics, per_document):
    rows, documents = random_documents(seed)
    rng, topics = np.random.default_rng(seed), random_topics(seed, n_topics)
    priors = rng.uniform(0.05, 1, (len(documents) if per_document else 1, n_topics)).astype(np.float32)
    chosen = np.full(sum(map(len, documents)), -1, np.int32)
    exceeding, mine = np.zeros((9, n_topics + 1), np.int64), in_lists(chosen, documents)
    for keys, kept in ((keys_of(seed, 1), []), (keys_of(seed + 1, 4), [1, 3])):  # from nothing, and from what there is
        drawn = np.full((len(kept), len(chosen)), -7, np.int32)
        sweep_documents(*rows, filled(topics), filled(priors), keys, 7, chosen, exceeding, np.array(kept, np.int64), drawn)
        mine, wanted = reference.sweep_documents(documents, topics, priors, keys, 7, mine, kept)
        assert in_lists(chosen, documents) == mine
        assert [in_lists(one, documents) for one in drawn] == wanted
        assert_array_equal(exceeding, reference.exceeding(mine, n_topics, 9))
        exceeding[:] = 0


@pytest.mark.parametrize(("seed", "n_topics"), [(0, 1), (1, 3), (2, 8), (3, 21)])
def test_first_topics_and_their_counts_are_those_of_the_twins(seed, n_topics):
    rows, documents = random_documents(seed)
    topics, keys = random_topics(seed, n_topics), keys_of(seed, 1)
    shares = np.random.default_rng(seed).dirichlet(np.full(n_topics, 0.3), len(documents)).astype(np.float32)
    chosen = np.full(sum(map(len, documents)), -1, np.int32)
    choose_first(*rows, filled(topics), filled(shares), keys, 3, chosen)
    mine = reference.choose_first(documents, topics, shares, keys[0], 3)
    assert in_lists(chosen, documents) == mine
    table, numbers = np.ones((N_WORDS, n_topics), np.int32), np.arange(N_WORDS, dtype=np.int32)[::-1].copy()
    count_assignments(*rows, chosen, numbers, table)
    assert_array_equal(table[::-1] - 1, reference.count_assignments(documents, mine, N_WORDS, n_topics))


def test_what_a_document_is_dealt_does_not_depend_on_the_others():
    rows, documents = random_documents(3)
    topics, priors, keys = filled(random_topics(3, 5)), filled(np.full((1, 5), 0.3)), keys_of(3, 4)
    n_tokens, none = sum(map(len, documents)), np.zeros((0, 6), np.int64)
    chosen, first = np.full(n_tokens, -1, np.int32), len(documents) // 2
    sweep_documents(*rows, topics, priors, keys, 0, chosen, none, *NOT_KEPT)
    entry, token = rows.ends[first], sum(map(len, documents[:first]))
    part = np.full(n_tokens - token, -1, np.int32)
    sweep_documents(
        rows.ends[first:] - entry, rows.words[entry:], rows.counts[entry:], topics, priors, keys, first, part, none, *NOT_KEPT
    )
    assert_array_equal(part, chosen[token:])


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 268, 269, 1000, 5003])
def test_bins_hold_all_that_lies_below_a_count(n):
    table, present, used = np.zeros((330, 3), np.int64), np.array([1, 0, 7]), 2 if n else 1
    note_exceeding(present, np.array([3.0, n, 9.0]), used, n + 3, table)
    numbers = reference.bins(330)
    assert_array_equal(EDGES[: len(numbers)], [members[0] for members in numbers])
    assert_allclose(MIDDLES[: len(numbers)], [np.mean(members) for members in numbers])
    for k, count in enumerate([n, 3, n + 3]):
        assert table[:, k].tolist() == [sum(member < count for member in members) for members in numbers]
    assert table.sum() == n + 3 + n + 3


def test_edges_go_as_far_as_they_are_asked_for():
    assert bin_edges(4).tolist() == [0, 1, 2, 3, 4]
    assert bin_edges(257).tolist() == [*range(257), 268]
    assert EDGES[-1] >= 2**24


@pytest.mark.parametrize("n_topics", [1, 3, 8, 11])
@pytest.mark.parametrize("informed", [False, True])
@pytest.mark.parametrize("n_languages", [1, 3])
def test_topics_are_drawn_as_by_the_twin(n_topics, informed, n_languages):
    rng = np.random.default_rng(n_topics)
    counts = (rng.poisson(2.0, (N_WORDS, n_topics)) * (rng.random((N_WORDS, n_topics)) < 0.6)).astype(np.float32)
    eta = 0.03 + informed * 4.0 * (rng.random(counts.shape) < 0.3)
    prior = WordPrior.of_table(eta)
    assert prior.is_flat is not informed
    languages = np.arange(N_WORDS, dtype=np.int32) % n_languages
    keys = keys_of(1, n_languages * n_topics).reshape(n_languages, n_topics)
    drawn = np.zeros((N_WORDS, padded(n_topics)), np.float32)
    for first, last in ((0, 5), (5, 5), (5, N_WORDS)):
        draw_topics(counts, prior.ends, prior.topics, prior.extra, prior.base, keys, languages, first, last, drawn)
    assert_allclose(drawn[:, :n_topics], reference.draw_topics(counts, eta, keys, languages), rtol=1e-6)
    assert not drawn[:, n_topics:].any()


# --- what is sampled -------------------------------------------------------------------------------------------------------


@strict_kernel
def gamma_variates(shape, keys, values):
    """Fill an array with variates."""
    for i in range(len(keys)):
        values[i] = gamma_variate(shape, keys[i])


@pytest.mark.parametrize("shape", [0.03, 0.3, 0.999, 1.0, 2.5, 100.0])
def test_gamma_variates_have_the_gamma_distribution(shape):
    n = 100_000
    values = np.empty(n)
    gamma_variates(shape, keys_of(5, n), values)
    gamma, smallest = stats.gamma(shape), np.exp(-87.0)
    if shape < 1:  # what is too small for single precision is zero, as often as it should be
        zeros = int((values == 0).sum())
        assert stats.binomtest(zeros, n, gamma.cdf(smallest)).pvalue > 1e-3
        values = values[values > 0]
        assert values.min() >= smallest
    lowest = gamma.cdf(smallest)
    found = (gamma.cdf(values) - lowest) / (1 - lowest)
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    assert stats.kstest(found, lambda x: x**1.04).pvalue < 1e-4  # so the test can fail
    mean = values.sum() / n
    assert abs(mean - shape) < 4 * np.sqrt(shape / n)
    assert_allclose((values**2).sum() / n - mean**2, shape, rtol=0.02 if shape >= 1 else 0.1)


WORDS = [0, 1, 1, 3]
ALPHA = np.array([0.2, 0.7, 1.6])
TOPICS = np.array([[0.5, 0.1, 0.2], [0.2, 0.2, 0.5], [0.2, 0.3, 0.1], [0.1, 0.4, 0.2]])


def p_value(found, expected):
    """χ² of how often each assignment was met; those that are rare count together."""
    n = sum(found.values())
    met, wanted = (np.array([of[z] for z in expected], float) for of in (found, expected))
    rare, wanted = n * wanted < 10, n * wanted
    met, wanted = ([*values[~rare], values[rare].sum()] for values in (met, wanted))
    used = np.array(wanted) > 0
    return stats.chisquare(np.array(met)[used], np.array(wanted)[used]).pvalue


def sampled(theta, alpha, n=20_000, n_draws=1):
    """Assignments of as many documents that are all alike, each with random numbers of its own, and how often each is met."""
    corpus = Corpus.from_matrix(np.tile(np.bincount(WORDS, minlength=len(TOPICS)).astype(float), (n, 1)))
    chains = Chains.of(TOPICS, alpha, n_draws, 11)
    drawn = [draw for draw in sample_assignments(corpus.shards(), np.tile(theta, (n, 1)), chains) if draw.draw == n_draws - 1]
    assert sum(len(draw.ends) - 1 for draw in drawn) == n
    assert all((draw.words == np.tile(WORDS, len(draw.ends) - 1)).all() for draw in drawn)
    return Counter(tuple(z) for draw in drawn for z in draw.topics.reshape(-1, len(WORDS)).tolist())


@pytest.mark.parametrize("n_draws", [1, 3])
@pytest.mark.parametrize("theta", [[0.2, 0.3, 0.5], [0.98, 0.01, 0.01]])
def test_draws_have_the_posterior_distribution_of_assignments(theta, n_draws):
    found = sampled(theta, ALPHA, n_draws=n_draws)
    assert p_value(found, reference.posterior(WORDS, TOPICS, ALPHA)) > 1e-4
    assert p_value(found, reference.posterior(WORDS, TOPICS, ALPHA * 1.3)) < 1e-6
    assert p_value(found, reference.posterior(WORDS, TOPICS, ALPHA[[0, 2, 1]])) < 1e-6


def test_draws_are_the_same_however_many_follow():
    counts, shares = np.random.default_rng(0).poisson(1.0, (30, len(TOPICS))).astype(float), np.full((30, 3), 1 / 3)
    few, many = (
        [*sample_assignments(Corpus.from_matrix(counts).shards(), shares, Chains.of(TOPICS, ALPHA, n, 2))] for n in (2, 7)
    )
    for one, same in zip(few, many, strict=False):
        assert one.draw == same.draw
        assert_array_equal(one.topics, same.topics)


def test_draws_of_each_document_are_by_its_own_prior():
    priors = np.tile(ALPHA, (20_000, 1))
    found = sampled([0.2, 0.3, 0.5], priors)
    assert p_value(found, reference.posterior(WORDS, TOPICS, ALPHA)) > 1e-4
    priors[::2] = 3.0
    assert p_value(sampled([0.2, 0.3, 0.5], priors), reference.posterior(WORDS, TOPICS, ALPHA)) < 1e-6


def test_sweeps_with_topics_drawn_in_between_find_the_posterior_of_all_assignments():
    documents, n_topics, n_words, alpha, eta = [[0, 1], [1, 2], [0, 2]], 2, 3, 0.5, 0.4
    counts = np.array([np.bincount(words, minlength=n_words) for words in documents], float)
    rows, prior, n_sweeps = Corpus.from_matrix(counts).rows, WordPrior.flat(eta, n_words), 40_000
    chosen, priors = np.full(6, -1, np.int32), filled(np.full((1, n_topics), alpha))
    topics, numbers = filled(np.full((n_words, n_topics), 1 / n_words)), np.arange(n_words, dtype=np.int32)
    keys, met, none = keys_of(2, 3 * n_sweeps).reshape(-1, 3), Counter(), np.zeros((0, 3), np.int64)
    for number in range(n_sweeps):
        sweep_documents(*rows, topics, priors, keys[number, :1], 0, chosen, none, *NOT_KEPT)
        table = np.zeros((n_words, n_topics), np.int32)
        count_assignments(*rows, chosen, numbers, table)
        known = table.astype(np.float32)
        own_keys = keys[number : number + 1, 1:].copy()
        draw_topics(known, prior.ends, prior.topics, prior.extra, eta, own_keys, np.zeros(3, np.int32), 0, 3, topics)
        topics[:, :n_topics] /= topics[:, :n_topics].sum(axis=0)
        met[tuple(chosen.tolist())] += 1
    expected = labeled.posterior(documents, [[0, 1]] * 3, n_words, n_topics, alpha, eta)
    assert sum(abs(met[z] / n_sweeps - p) for z, p in expected.items()) / 2 < 0.02
    wrong = labeled.posterior(documents, [[0, 1]] * 3, n_words, n_topics, alpha, 2 * eta)
    assert sum(abs(met[z] / n_sweeps - p) for z, p in wrong.items()) / 2 > 0.04


# --- priors ----------------------------------------------------------------------------------------------------------------


def log_polya(counts, prior):
    """Log-likelihood of rows of counts under a Dirichlet-multinomial distribution."""
    total = prior.sum()
    rows = gammaln(total) - gammaln(counts.sum(axis=1) + total) + (gammaln(counts + prior) - gammaln(prior)).sum(axis=1)
    return rows.sum()


def misfit(logs, counts):
    """What the logarithms of the most probable α minimize."""
    return RATE * np.exp(logs).sum() - log_polya(counts, np.exp(logs))


def exceeding_of(counts):
    table = np.zeros((len(MIDDLES), counts.shape[1] + 1), np.int64)
    for row in counts:
        note_exceeding(np.arange(len(row)), row.astype(float), len(row), row.sum(), table)
    return table.astype(np.float64)


@pytest.mark.parametrize("length", [30, 5000], ids=["one by one", "in bins"])
def test_alpha_learned_from_counts_is_the_most_probable_one(length):
    rng, truth = np.random.default_rng(0), np.array([0.05, 0.3, 0.7, 2.0])
    counts = np.array([rng.multinomial(rng.poisson(length), theta) for theta in rng.dirichlet(truth, 400)])
    counts[:40] = 0  # documents without words tell nothing
    table, alpha = exceeding_of(counts), np.full(4, 0.1)
    for _ in range(20):
        alpha = sampled_alpha(alpha, table)
    options = {"xatol": 1e-6, "fatol": 1e-6, "maxiter": 2000}
    best = minimize(misfit, np.log(truth), args=(counts,), method="Nelder-Mead", options=options)
    assert best.success
    assert_allclose(alpha, np.exp(best.x), rtol=1e-3)


@pytest.mark.parametrize("n_languages", [1, 2])
@pytest.mark.parametrize("length", [300, 100_000], ids=["small counts", "counts beyond the bins"])
def test_eta_learned_from_counts_is_the_most_probable_one(length, n_languages):
    rng, languages = np.random.default_rng(1), np.arange(100, dtype=np.int32) * n_languages // 130
    sizes = np.bincount(languages)
    parts = [[rng.multinomial(length, phi) for phi in rng.dirichlet(np.full(size, 0.1), 5)] for size in sizes]
    counts = np.concatenate([np.array(part).T for part in parts]).astype(np.float32)
    assert (counts.max() > 256) == (length > 300)
    eta = 0.7
    for _ in range(20):
        eta = sampled_eta(eta, counts, languages)

    def misfit_of_eta(log):
        of_parts = (log_polya(np.array(part), np.full(size, np.exp(log))) for part, size in zip(parts, sizes, strict=True))
        return RATE * np.exp(log) - sum(of_parts)

    best = minimize_scalar(misfit_of_eta, bounds=(-7, 2), method="bounded", options={"xatol": 1e-6})
    assert_allclose(eta, np.exp(best.x), rtol=1e-3)


def test_priors_stay_what_they_were_where_nothing_was_sampled():
    assert_array_equal(sampled_alpha(np.array([0.1, 0.2]), np.zeros((len(MIDDLES), 3))), [0.1, 0.2])
    assert sampled_eta(0.03, np.zeros((5, 2), np.float32), np.zeros(5, np.int32)) == 0.03


def test_a_topic_that_nothing_is_assigned_to_keeps_a_prior_above_zero():
    counts = np.tile([3, 0], (50, 1))
    alpha = np.full(2, 0.5)
    for _ in range(20):
        alpha = sampled_alpha(alpha, exceeding_of(counts))
    assert np.isfinite(alpha).all()
    assert alpha.min() > 0


def test_priors_of_a_handful_of_documents_stay_within_bounds():
    """Where all documents are alike, the likelihood rises for ever."""
    alpha, eta, alike = np.full(2, 0.5), 0.5, np.tile([40, 40], (3, 1))
    for _ in range(200):
        alpha = sampled_alpha(alpha, exceeding_of(alike))
        eta = sampled_eta(eta, alike.astype(np.float32), np.zeros(3, np.int32))
    assert alpha.max() < 20
    assert eta < 20
