"""CVB0 gives the numbers of the dense reference, and LDA what it promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from helpers import collection, large_counts, random_counts
from reference.cvb0 import cvb0_dense
from semascope import LDA, PLSA, Analyzer, Corpus, ThreadEngine, load
from semascope.engines.exact import Accumulator
from semascope.training.cvb0 import CVB0, _for_alpha


def started(counts, n_topics, **settings):
    """The start of a fit over one shard: algorithm, shard, theta, state."""
    (shard,) = Corpus.from_matrix(counts).shards()
    algorithm = CVB0(n_topics, *counts.shape, float(counts.sum()), 0, "float64", **settings)
    local, stats = algorithm.begin(shard)
    accumulator = Accumulator()
    accumulator.add(stats)
    return algorithm, shard, local, algorithm.start(accumulator.total)


@pytest.mark.parametrize("n_topics", [1, 2, 3, 8, 17])
@pytest.mark.parametrize("alpha", [0.1, 1.5])
def test_passes_give_the_numbers_of_the_dense_reference(n_topics, alpha):
    counts = random_counts(n_topics)
    counts[4] = 0
    algorithm, shard, local, state = started(counts, n_topics, alpha=alpha, eta=0.05)
    lengths = counts.sum(axis=1, keepdims=True)
    doc_topic = np.maximum(local["theta"] * (lengths + n_topics * alpha) - alpha, 0)
    word_topic = state.topics / state.scale - 0.05
    for _ in range(4):
        local, stats = algorithm.step(shard, local, state)
        accumulator = Accumulator()
        accumulator.add(stats)
        doc_topic, word_topic, log_likelihood = cvb0_dense(counts, doc_topic, word_topic, np.full(n_topics, alpha), 0.05)
        assert_allclose(algorithm.objective(state, accumulator.total), log_likelihood, rtol=1e-9)
        state = algorithm.update(state, accumulator.total)
        assert_allclose(local["theta"], (doc_topic + alpha) / (lengths + n_topics * alpha), rtol=1e-8)
        assert_allclose(state.topics, (word_topic + 0.05) / (word_topic.sum(axis=0) + 0.05 * len(word_topic)), rtol=1e-8)


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    counts = large_counts()
    one, many = (
        LDA(8, max_iter=15, tol=0, alpha="auto", random_state=3, engine=ThreadEngine(n)).fit(counts) for n in (1, n_threads)
    )
    assert one.components_.tobytes() == many.components_.tobytes()
    assert one.doc_topics_.tobytes() == many.doc_topics_.tobytes()
    assert one.alpha_.tobytes() == many.alpha_.tobytes()


@pytest.mark.parametrize("seed", range(20))
def test_topics_and_documents_are_distributions_whatever_the_counts(seed):
    counts = random_counts(seed)
    counts[1] = 0
    model = LDA(4, max_iter=20, random_state=seed, alpha="auto" if seed % 2 else 0.1).fit(counts)
    for rows in (model.components_, model.doc_topics_, model.transform(counts), model.topic_shares_[None]):
        assert np.all(rows > 0)
        assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)


def planted(seed=0, n_documents=500, alpha=(0.2, 0.2, 0.2, 0.2, 0.2)):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(80, 0.1), len(alpha))
    theta = rng.dirichlet(alpha, n_documents)
    return topics, np.array([rng.multinomial(100, row) for row in theta @ topics])


def test_planted_topics_are_found_again():
    topics, counts = planted()
    model = LDA(5, max_iter=200, tol=1e-6, random_state=0).fit(counts)
    distance = 0.5 * np.abs(model.components_[:, None] - topics[None]).sum(axis=2)
    found = distance[linear_sum_assignment(distance)]
    assert found.max() < 0.1


def test_priors_that_are_unequal_are_learned_to_be_so():
    """They come out larger than they are: expected counts are smoother than counts."""
    topics, counts = planted(1, 2000, alpha=(1.0, 0.5, 0.1, 0.1, 0.05))
    model = LDA(5, max_iter=300, tol=1e-7, random_state=0, alpha="auto").fit(counts)
    distance = 0.5 * np.abs(topics[:, None] - model.components_[None]).sum(axis=2)
    _, of_planted = linear_sum_assignment(distance)
    first, second, *others = model.alpha_[of_planted]
    assert first > 1.5 * second > 3 * max(others)


def test_a_step_of_alpha_never_makes_the_counts_of_topics_less_probable():
    rng = np.random.default_rng(0)

    def log_probability(counts, alpha):
        lengths = counts.sum(axis=1)
        documents = gammaln(alpha.sum()) - gammaln(lengths + alpha.sum())
        return float((documents + (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)).sum())

    for _ in range(50):
        alpha = rng.uniform(0.01, 3, 6)
        counts = rng.dirichlet(rng.uniform(0.05, 2, 6), 40) * rng.integers(1, 80, 40)[:, None]
        *of_topics, of_documents = _for_alpha(counts + alpha, counts.sum(axis=1), alpha)
        better = alpha * np.array(of_topics) / of_documents
        assert log_probability(counts, better) >= log_probability(counts, alpha) - 1e-9


def test_lda_predicts_new_documents_better_than_plsa_where_plsa_fits_too_closely():
    train, test = Corpus.from_texts(collection("ir/med"), analyzer=Analyzer(stop_words="english", min_df=2)).split(0.1)
    plsa, fixed, learned = (
        model.set_params(random_state=0).fit(train).perplexity(test) for model in (PLSA(128), LDA(128), LDA(128, alpha="auto"))
    )
    assert fixed < 0.92 * plsa
    assert learned < 0.92 * plsa


def test_a_document_is_folded_in_alike_alone_and_in_a_batch():
    counts = random_counts(1)
    model = LDA(3, max_iter=10, random_state=0).fit(counts)
    alone = np.concatenate([model.transform(row[None]) for row in counts])
    assert model.transform(counts).tobytes() == alone.tobytes()


def test_a_saved_model_is_the_same_model(tmp_path):
    texts = ["cat and dog", "dog and cat", "stock and bond", "bond and stock"]
    model = LDA(2, random_state=0, alpha="auto").fit(texts)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(again, LDA)
    assert again.transform(texts).tobytes() == model.transform(texts).tobytes()
    assert again.alpha_.tolist() == model.alpha_.tolist()
    assert again.top_words(2) == model.top_words(2)
    assert_allclose(model.transform(["nothing known"]), [model.alpha_ / model.alpha_.sum()], rtol=1e-5)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha": 0}, 'alpha must be "auto" or a number above 0, but was 0'),
        ({"alpha": "learn"}, "alpha must be \"auto\" or a number above 0, but was 'learn'"),
        ({"alpha": float("nan")}, 'alpha must be "auto" or a number above 0, but was nan'),
        ({"eta": -1.0}, "eta must be a number above 0, but was -1.0"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, but was 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match="LDA") as problem:
        LDA(**{"n_components": 2, **settings}).fit([[1, 2], [2, 1]])
    assert str(problem.value) == f"LDA: {sentence}."
