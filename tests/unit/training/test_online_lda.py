"""Models that learn from a stream, batch after batch."""

import os
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

import semascope as ss
from helpers import random_counts
from reference.variational import settle_dense
from semascope.corpus.build.word_table import WordTable
from semascope.engines.exact_sums import Accumulator
from semascope.errors import InputError
from semascope.training.hyperpriors import ETA
from semascope.training.online_lda import OnlineLDA, OnlineState
from semascope.training.stochastic_cvb0 import SCVB0
from semascope.training.variational import VB, VBState

TEXTS = ["cats purr and dogs bark", "dogs bark at cats", "bonds fall when stocks rise", "stocks rise and bonds fall"] * 3
MORE = ["parrots bark at cats", "shares and bonds rise", "dogs and parrots", "shares fall"]
INFERENCES = {"cvb0": SCVB0, "vb": VB}


def learner(algorithm, n_topics, *, offset=1.0, batch_size=1000, total=None, **settings):
    settings = {"n_topics": n_topics, "seed": 0, "dtype": "float64", **settings}
    return OnlineLDA(algorithm, settings, offset, 0.7, batch_size, total, ss.ThreadEngine(1))


def same(model, other):
    return model.components_.tobytes() == other.components_.tobytes() and model.alpha_.tobytes() == other.alpha_.tobytes()


@pytest.mark.parametrize("algorithm", INFERENCES.values())
def test_looks_at_a_batch_of_everything_that_counts_for_all_are_iterations_of_the_batch_algorithm(algorithm):
    counts = random_counts(3)
    counts = counts[counts.sum(axis=1) > 0]
    corpus = ss.Corpus.from_matrix(counts)
    online = learner(algorithm, 3, batch_size=len(counts))
    state = online.start(corpus)
    after = online.learn(state, corpus)
    (shard,), alone = corpus.shards(), algorithm(3, *counts.shape, float(counts.sum()), 0, "float64", max_passes=100)
    known = VBState(
        state.topics, state.sizes[None], alone.table(state.topics, state.sizes[None])[0],
        state.topic_shares, state.alpha, state.alpha, state.eta, state.eta,
    )  # fmt: skip
    local = {"theta": np.full((len(counts), 3), 1 / 3)}
    for _ in range(algorithm.inner_iterations):
        local, stats = alone.step(shard, local, known)
        accumulator = Accumulator()
        accumulator.add(stats)
        known = alone.update(known, accumulator.total)
    assert_allclose(after.topics, known.topics, rtol=1e-10)
    assert_allclose(after.sizes, known.sizes[0], rtol=1e-10)
    assert_allclose(after.theta, local["theta"])
    assert_allclose(after.topic_shares, known.topic_shares)


@pytest.mark.parametrize("n_passes", [1, 5])
def test_stochastic_cvb0_gives_the_numbers_of_the_dense_reference(n_passes):
    counts, rng = random_counts(5), np.random.default_rng(0)
    topics, alpha = rng.dirichlet(np.full(counts.shape[1], 0.5), 4).T.copy(), rng.uniform(0.1, 1, 4)
    (shard,) = ss.Corpus.from_matrix(counts).shards()
    algorithm = SCVB0(4, *counts.shape, float(counts.sum()), 0, "float64", max_passes=n_passes, tolerance=0.0)
    theta = rng.dirichlet(np.ones(4), len(counts))
    lengths = counts.sum(axis=1, keepdims=True) + alpha.sum()
    state = VBState(topics, np.ones((1, 4)), topics, np.full(4, 0.25), alpha, alpha, 0.01, 0.01)
    local, stats = algorithm.step(shard, {"theta": theta}, state)
    accumulator = Accumulator()
    accumulator.add(stats)
    gamma, expected = settle_dense(counts, theta * lengths, topics, alpha, n_passes)
    assert_allclose(local["theta"] * lengths, gamma, rtol=1e-9)
    assert_allclose(accumulator.total.word_topic.values("float64"), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("algorithm", INFERENCES.values())
def test_topics_move_towards_a_batch_by_the_rate_of_its_time(algorithm, monkeypatch):
    """λ ← (1 − ρ) λ + ρ (η + D/|B| s), with ρ = (τ + t)^−κ, when it is looked at once."""
    monkeypatch.setattr(algorithm, "inner_iterations", 1)
    counts = random_counts(1)[:20]
    counts = counts[counts.sum(axis=1) > 0]
    batch, n = ss.Corpus.from_matrix(counts), len(counts)
    online = learner(algorithm, 3, offset=2.0, batch_size=n, total=10 * n)
    before = online.start(batch)._replace(documents=3 * n)
    after = online.learn(before, batch)
    everything = learner(algorithm, 3, batch_size=n, total=n).learn(before._replace(documents=0), batch)
    rate, expected = 5.0**-0.7, everything.topics * everything.sizes - ETA
    wanted = (1 - rate) * before.topics * before.sizes + rate * (ETA + 10 * expected)
    assert_allclose(after.topics * after.sizes, wanted, rtol=1e-9)
    assert after.documents == 4 * n


def test_small_batches_count_for_their_part():
    online = learner(VB, 3, offset=4.0, batch_size=100)
    whole, tenths = 1 - online.rate(500, 100), np.prod([1 - online.rate(500, 10) for _ in range(10)])
    assert_allclose(whole, tenths)
    assert_allclose(online.rate(500, 100), 9.0**-0.7)


def planted(n_documents, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(120, 0.1), 6)
    return topics, np.array([rng.multinomial(60, row) for row in rng.dirichlet(np.full(6, 0.2), n_documents) @ topics])


@pytest.mark.parametrize("settings", [{}, {"alpha": "auto"}, {"inference": "vb", "alpha": 0.7, "eta": 0.6}])
def test_a_stream_comes_near_to_what_a_batch_of_everything_gives(settings):
    topics, counts = planted(4400)
    stream = ss.LDA(6, random_state=0, batch_size=100, **settings)
    for part in np.array_split(counts[:4000], 8):
        stream.partial_fit(part)
    batch = ss.LDA(6, random_state=0, **settings).fit(counts[:4000])
    assert stream.perplexity(counts[4000:]) < 1.03 * batch.perplexity(counts[4000:])
    distance = 0.5 * np.abs(stream.components_[:, None] - topics[None]).sum(axis=2)
    assert distance[linear_sum_assignment(distance)].max() < 0.15
    assert stream.n_documents_seen_ == 4000


@pytest.mark.parametrize("inference", INFERENCES)
def test_new_words_join_the_vocabulary_at_its_end_and_find_their_topics(inference):
    model = ss.LDA(2, random_state=0, inference=inference, learning_offset=1.0, batch_size=12).partial_fit(TEXTS)
    known = model.vocabulary_.tolist()
    for _ in range(5):
        model.partial_fit(MORE)
    assert model.vocabulary_.tolist() == [*known, "parrots", "shares"]
    assert model.components_.shape == (2, len(known) + 2)
    assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-5)
    topic = model.transform(["parrots", "dogs bark", "shares", "bonds"]).argmax(axis=1)
    assert topic[0] == topic[1] != topic[2] == topic[3]


def test_a_word_that_comes_late_is_as_one_that_was_never_met():
    topics = np.array([[0.7, 0.2], [0.3, 0.8]])
    state = OnlineState(topics, np.array([10.0, 20.0]), np.ones(2), 0.5, 7, topics).expand_vocabulary(4)
    assert_allclose(state.topics * state.sizes, [[7, 4], [3, 16], [0.5, 0.5], [0.5, 0.5]])
    assert_allclose(state.topics.sum(axis=0), 1)


def test_limits_of_the_analyzer_hold_for_new_words_and_not_for_those_that_are_known():
    corpus = ss.Corpus.from_texts(TEXTS, analyzer=ss.Analyzer(min_df=2))
    model = ss.LDA(2, random_state=0).partial_fit(corpus)
    before = model.topic_sizes_.sum()
    model.partial_fit(["cats like parrots", "dogs like owls"])
    assert model.vocabulary_.tolist() == [*corpus.vocabulary, "like"]
    assert model.topic_sizes_.sum() != before


def documents_tokenized(monkeypatch):
    """How many documents the tokenizer was given, in a list of one number that grows."""
    n_documents, count = [0], WordTable.count

    def counted(table, text, offsets, *given, **named):
        n_documents[0] += len(offsets) - 1
        return count(table, text, offsets, *given, **named)

    monkeypatch.setattr(WordTable, "count", counted)
    return n_documents


@pytest.mark.parametrize("analyzer", [None, ss.Analyzer(min_df=2, max_features=3), ss.Analyzer(ngrams=(1, 2))], ids=str)
@pytest.mark.parametrize("given", [list, lambda texts: ss.read(pl.DataFrame({"text": texts}))], ids=["texts", "a source"])
def test_partial_fit_tokenizes_each_text_once(given, analyzer, monkeypatch):
    model = ss.LDA(2, random_state=0).partial_fit(ss.Corpus.from_texts(TEXTS, analyzer=analyzer))
    labeled = ss.OnlineLabeledLDA(random_state=0).partial_fit(TEXTS, ["pets"] * len(TEXTS))
    n_tokenized = documents_tokenized(monkeypatch)
    model.partial_fit(given(MORE))
    assert n_tokenized == [len(MORE)]
    labeled.partial_fit(given(MORE), ["money"] * len(MORE))
    assert n_tokenized == [2 * len(MORE)]


def test_partial_fit_takes_a_source_that_can_be_read_once():
    model, batches = ss.LDA(2, random_state=0).partial_fit(TEXTS), pa.table({"text": MORE}).to_reader()
    twin = ss.LDA(2, random_state=0).partial_fit(TEXTS).partial_fit(MORE)
    assert same(model.partial_fit(ss.read(batches)), twin)
    assert model.vocabulary_.tolist() == twin.vocabulary_.tolist()


@pytest.mark.parametrize("given", [list, ss.Corpus.from_texts], ids=["texts", "a corpus"])
def test_words_of_other_languages_do_not_join_a_model_of_one(given):
    model = ss.LDA(2, random_state=0).partial_fit([{"en": text} for text in TEXTS])
    known = model.vocabulary_.tolist()
    model.partial_fit(given([{"en": "cats like owls", "de": "Katzen schnurren"}, {"de": "Kurse fallen"}]))
    assert model.vocabulary_.tolist() == [*known, "like", "owls"]


@pytest.mark.parametrize("inference", INFERENCES)
def test_a_fitted_model_goes_on_with_a_stream(inference):
    model = ss.LDA(2, random_state=0, inference=inference).fit(TEXTS)
    before = model.transform(TEXTS)
    model.partial_fit(MORE)
    assert np.abs(model.transform(TEXTS) - before).max() < 0.2
    assert (model.n_documents_seen_, len(model.doc_topics_)) == (len(TEXTS) + len(MORE), len(MORE))


@pytest.mark.parametrize("settings", [{"alpha": "auto"}, {"inference": "vb", "alpha": "auto", "eta": "auto"}])
def test_a_model_saved_after_each_batch_goes_on_to_the_same_bits(tmp_path, settings):
    never_saved, saved = (ss.LDA(2, random_state=0, batch_size=5, **settings) for _ in range(2))
    for texts in (TEXTS, MORE, TEXTS):
        never_saved.partial_fit(texts)
        saved.partial_fit(texts, save_to=tmp_path / "model")
        saved = ss.load(tmp_path / "model")
    assert same(saved, never_saved)
    assert saved.eta_ == never_saved.eta_
    assert saved.doc_topics_.tobytes() == never_saved.doc_topics_.tobytes()


SCRIPT = """
import sys, semascope as ss
from semascope.models.online_topic_model import OnlineTopicModel
texts = {texts!r}
model, take = ss.LDA(2, random_state=0, batch_size=4), OnlineTopicModel.save
def save(self, path):
    take(self, path)
    if self.n_documents_seen_ == 8:
        sys.stdout.write("saved"); sys.stdout.flush(); sys.stdin.read()
OnlineTopicModel.save = save
model.partial_fit(texts, save_to=sys.argv[1])
"""


def test_a_stream_that_was_killed_goes_on_where_its_documents_ended(tmp_path):
    command = [sys.executable, "-c", SCRIPT.format(texts=TEXTS), str(tmp_path / "model")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(5) == b"saved"
        os.kill(process.pid, signal.SIGKILL)
    model = ss.load(tmp_path / "model")
    assert model.n_documents_seen_ == 8
    model.partial_fit(TEXTS[model.n_documents_seen_ :])
    assert same(model, ss.LDA(2, random_state=0, batch_size=4).partial_fit(TEXTS))


def test_batches_without_documents_or_words_do_no_harm():
    model = ss.LDA(2, random_state=0).partial_fit(TEXTS)
    before = model.components_.copy()
    model.partial_fit([]).partial_fit(["", "!"]).partial_fit(["", ""])
    assert model.components_.tobytes() == before.tobytes()
    assert model.n_documents_seen_ == len(TEXTS)
    assert_allclose(model.doc_topics_, 0.5)
    with pytest.raises(InputError, match=r"LDA: there are no documents to learn from\."):
        ss.LDA(2).partial_fit([])


@pytest.mark.parametrize("n_threads", [2, 8])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    _, counts = planted(600)
    one, many = (
        ss.LDA(5, random_state=0, alpha="auto", batch_size=300, engine=ss.ThreadEngine(n)).partial_fit(counts)
        for n in (1, n_threads)
    )
    assert same(one, many)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, but was 0"),
        ({"learning_offset": 0}, "learning_offset must be a number above 0, but was 0"),
        ({"learning_decay": 0.5}, "learning_decay must be above 0.5 and at most 1, but was 0.5"),
        ({"learning_decay": None}, "learning_decay must be above 0.5 and at most 1, but was None"),
        ({"total_samples": 0}, "total_samples must be a whole number of at least 1, or None, but was 0"),
        ({"n_components": 3}, "n_components cannot change after the first call: the model has 2, but it was 3"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    model = ss.LDA(2, random_state=0).partial_fit(TEXTS).set_params(**settings)
    with pytest.raises(InputError) as problem:
        model.partial_fit(TEXTS)
    assert str(problem.value) == f"LDA: {sentence}."


def test_a_model_of_a_matrix_without_words_cannot_learn_from_texts():
    model = ss.LDA(2, random_state=0).partial_fit(random_counts(0))
    with pytest.raises(InputError, match="cannot learn from texts: pass a matrix"):
        model.partial_fit(TEXTS)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(random_counts(0)[:, :-1])
