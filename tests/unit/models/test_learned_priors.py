"""Priors that are learned from draws: on any number of threads, after a crash, in every combination of settings."""

import os
import signal
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose

import semascope as ss
from helpers import large_counts, random_counts
from semascope.corpus import shards
from semascope.errors import ExpectedCountsWarning, InputError, InterruptedFitWarning
from semascope.inference import draws
from semascope.training import cvb0_sampled as cvb0_draws
from semascope.training.cvb0_sampled import FIRST, LAST, SWEEPS, SampledCVB0
from semascope.training.loop import run
from semascope.training.stopping import ITERATIONS, StopRule

AUTO = {"alpha": "auto", "eta": "auto", "random_state": 0}
TRUE_ALPHA, TRUE_ETA = np.array([0.05, 0.08, 0.12, 0.2, 0.3, 0.45]), 0.1


def planted(seed, n_documents=600, length=40, n_words=200):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, TRUE_ETA), len(TRUE_ALPHA))
    return np.array([rng.multinomial(length, theta @ topics) for theta in rng.dirichlet(TRUE_ALPHA, n_documents)], dtype=float)


# --- the same bits ---------------------------------------------------------------------------------------------------------


def all_draws(model, X, n_draws=2, **settings):
    """Topics of all tokens, a row for each draw."""
    found = [[] for _ in range(n_draws)]
    for draw in model.sample_assignments(X, n_draws, **settings):
        found[draw.draw].append(draw.topics)
    return np.array([np.concatenate(parts) for parts in found])


@pytest.fixture(scope="module")
def fitted():
    return ss.LDA(6, max_iter=10, random_state=0).fit(large_counts())


@pytest.fixture(scope="module")
def drawn(fitted):
    return all_draws(fitted, large_counts())


@pytest.mark.parametrize("n_cores", [1, 2, 5])
def test_any_number_of_threads_gives_the_same_draws(fitted, drawn, n_cores, monkeypatch):
    monkeypatch.setattr(draws, "usable_cores", lambda: n_cores)
    monkeypatch.setattr(fitted, "engine", ss.ThreadEngine(n_cores))
    assert all_draws(fitted, large_counts()).tobytes() == drawn.tobytes()


@pytest.mark.parametrize("size", [1 << 8, 1 << 20])
def test_draws_do_not_depend_on_the_cut_into_shards(fitted, drawn, size, monkeypatch):
    n_before = len(ss.Corpus.from_matrix(large_counts()).shards())
    monkeypatch.setattr(shards, "SMALL_SHARD", size)
    monkeypatch.setattr(shards, "FAIR_SHARE", 16)
    assert len(ss.Corpus.from_matrix(large_counts()).shards()) != n_before
    assert all_draws(fitted, large_counts()).tobytes() == drawn.tobytes()


def test_draws_of_a_corpus_on_disk_are_those_of_one_in_memory(fitted, drawn, corpus_path):
    of_disk = ss.LDA(6, max_iter=10, random_state=0).fit(ss.Corpus.open(corpus_path))
    assert of_disk.components_.tobytes() == fitted.components_.tobytes()
    assert all_draws(of_disk, ss.Corpus.open(corpus_path)).tobytes() == drawn.tobytes()


def test_draws_tell_the_words_and_documents_of_their_tokens(fitted):
    counts, met = large_counts(), []
    for draw in fitted.sample_assignments(counts, 3, seed=4):
        n = len(draw.ends) - 1
        own = [np.bincount(draw.words[draw.ends[d] : draw.ends[d + 1]], minlength=counts.shape[1]) for d in range(n)]
        assert (np.array(own) == counts[draw.first_document : draw.first_document + n]).all()
        assert set(np.unique(draw.topics)) <= set(range(6))
        met += [(draw.draw, draw.first_document + d) for d in range(n)]
    assert sorted(met) == [(number, d) for number in range(3) for d in range(len(counts))]


def test_other_seeds_give_other_draws(fitted, drawn):
    first, second = drawn
    assert 0 < (first != second).mean() < 0.5
    assert (all_draws(fitted, large_counts(), seed=1) != drawn).any()
    assert all_draws(fitted, large_counts(), n_draws=1).tobytes() == first.tobytes()


@pytest.mark.parametrize(
    ("counts", "settings", "sentence"),
    [
        (0.5, {}, "every token is assigned to a topic, so counts must be whole numbers up to 16,777,216."),
        (2.0**25, {}, "every token is assigned to a topic, so counts must be whole numbers up to 16,777,216."),
        (1.0, {"n_draws": 0}, "n_draws must be a whole number of at least 1, but was 0."),
        (1.0, {"seed": -1}, "seed must be a whole number of at least 0, but was -1."),
    ],
)
def test_draws_that_make_no_sense_are_refused_in_a_sentence(fitted, counts, settings, sentence):
    with pytest.raises(InputError) as problem:
        fitted.sample_assignments(np.full((2, 900), counts), **settings)
    assert str(problem.value) == sentence


def sampled(corpus, **settings):
    facts = {"n_documents": corpus.n_documents, "n_words": corpus.n_words, "n_tokens": corpus.n_tokens, "seed": 1}
    return SampledCVB0(5, **facts, learn_alpha=True, learn_eta=True, **settings)


def test_any_number_of_threads_and_cores_learns_the_same_priors(monkeypatch):
    corpus, found = ss.Corpus.from_matrix(large_counts()), []
    for n in (1, 2, 3):
        monkeypatch.setattr(cvb0_draws, "usable_cores", lambda n=n: n)
        algorithm = sampled(corpus, first_passes=3, max_sweeps=12)
        found.append(run(algorithm, corpus.shards(), ss.ThreadEngine(n), stop=StopRule(3, 0.0)))
    for other in found[1:]:
        assert other.history == found[0].history
        assert other.state.topics.tobytes() == found[0].state.topics.tobytes()
        assert other.state.trace.tobytes() == found[0].state.trace.tobytes()
        assert other.documents.tobytes() == found[0].documents.tobytes()


@pytest.mark.parametrize(("iteration", "phase"), [(1, FIRST), (3, SWEEPS), (9, SWEEPS), (15, LAST), (16, LAST)])
def test_a_run_that_is_cut_off_in_any_phase_goes_on_to_the_same_bits(monkeypatch, tmp_path, iteration, phase):
    monkeypatch.setattr(shards, "SMALL_SHARD", 256)
    corpus, left = ss.Corpus.from_matrix(random_counts(6, 60)), [iteration]
    assert len(corpus.shards()) > 1

    def cut_off(history, seconds):
        left[0] -= 1
        return ITERATIONS if left[0] < 0 else None

    algorithm, unfinished = sampled(corpus, first_passes=3, max_sweeps=12), tmp_path / "unfinished"
    whole = run(algorithm, corpus.shards(), ss.ThreadEngine(2), stop=StopRule(3, 0.0))
    part = run(algorithm, corpus.shards(), ss.ThreadEngine(1), stop=cut_off, checkpoints=ss.Checkpoints(unfinished, 0.0))
    assert (part.state.phase, len(part.history)) == (phase, iteration)
    going_on = ss.Checkpoints(unfinished, resume=True)
    resumed = run(algorithm, corpus.shards(), ss.ThreadEngine(2), stop=StopRule(3, 0.0), checkpoints=going_on)
    assert resumed.history == whole.history
    assert resumed.documents.tobytes() == whole.documents.tobytes()
    for name in ("topics", "alpha", "document_alpha", "trace"):
        assert getattr(resumed.state, name).tobytes() == getattr(whole.state, name).tobytes()
    assert resumed.state.eta == whole.state.eta


# --- what is learned -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_planted_priors_are_found_again(seed):
    model = ss.LDA(6, **AUTO).fit(planted(seed))
    assert_allclose(model.alpha_.sum(), TRUE_ALPHA.sum(), rtol=0.15)
    assert_allclose(model.eta_, TRUE_ETA, rtol=0.3)  # a topic that is missed makes it 26 % too large with seed 4


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_documents_without_words_do_not_change_what_is_learned(inference):
    counts = planted(3)
    mixed = np.concatenate([counts[:200], np.zeros((300, counts.shape[1])), counts[200:]])
    alone, among = (ss.LDA(6, inference=inference, **AUTO).fit(X) for X in (counts, mixed))
    assert_allclose(among.alpha_.sum(), alone.alpha_.sum(), rtol=0.1)


def test_a_bound_with_learned_priors_never_falls_among_documents_without_words():
    counts = random_counts(2, 80)
    counts[::3] = 0
    bound = ss.LDA(3, inference="vb", max_iter=40, tol=0, **AUTO).fit(counts).elbo_
    assert (np.diff(bound) >= -1e-6 * np.abs(bound[0])).all()


def test_what_is_given_stays_as_it_is_to_the_last_bit_while_the_other_prior_is_learned():
    counts = random_counts(1, 60)
    learned = ss.LDA(3, eta="auto", random_state=0).fit(counts)
    assert learned.alpha_.tolist() == [0.1] * 3
    assert learned.eta_ != 0.03
    assert ss.LDA(3, alpha="auto", random_state=0).fit(counts).eta_ == 0.03


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize("settings", [{"alpha": "auto"}, {"eta": "auto"}, {"alpha": "auto", "eta": "auto"}])
def test_priors_of_counts_that_are_not_whole_are_learned_from_expected_counts_with_a_warning(learn, settings):
    counts = random_counts(4, 60)
    with pytest.warns(ExpectedCountsWarning, match=r"^counts are not whole numbers, .*\.$") as warned:
        model = getattr(ss.LDA(3, random_state=0, **settings), learn)(counts * 0.5 + 0.1 * (counts > 0))
    assert warned[0].filename == __file__
    assert len(warned) == 1
    assert np.isfinite(model.components_).all()
    assert (model.alpha_.tolist() != [0.1] * 3) == ("alpha" in settings)
    assert (model.eta_ != 0.03) == ("eta" in settings)
    assert 1e-4 <= model.eta_ < 10


def test_only_learning_from_draws_needs_whole_counts():
    halves, given = random_counts(4, 60) / 2, np.random.default_rng(0).uniform(0.01, 0.1, 25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for settings in ({}, {"inference": "vb", **AUTO}, {"eta": given}):
            ss.LDA(**{"n_components": 3, "random_state": 0} | settings).fit(halves)
            ss.LDA(**{"n_components": 3, "random_state": 0} | settings).partial_fit(halves)


# --- every combination -----------------------------------------------------------------------------------------------------

BLOCKS = [[f"{theme}{letter}" for letter in "abcdef"] for theme in ("cat", "dog", "sun")]
"""The words of each topic, which no other has."""


def block_texts(n_documents=120, length=20, languages=("",)):
    """Texts of words that belong to one topic each; by language, where there are several."""
    rng, texts = np.random.default_rng(7), []
    for theta in rng.dirichlet([0.06, 0.1, 0.16], n_documents):
        by_language = {}
        for code in languages:
            words = [f"{rng.choice(BLOCKS[k])}{code}" for k in rng.choice(len(BLOCKS), size=length, p=theta)]
            by_language[code] = " ".join(words)
        texts.append(by_language if len(languages) > 1 else by_language[languages[0]])
    return texts


MODELS = {"LDA": (ss.LDA, block_texts()), "PolylingualLDA": (ss.PolylingualLDA, block_texts(languages=("en", "de")))}
ALPHAS = {"number": 0.1, "vector": [0.05, 0.1, 0.2], "auto": "auto"}
PRIOR = ss.InformedPrior({"cats": ["cata", "catb", "cataen", "catbde"], "dogs": ["doga", "dogaen", "dogade"]})


def etas(n_words):
    return {"number": 0.03, "auto": "auto", "vector": np.linspace(0.02, 0.05, n_words), "informed": PRIOR}


@pytest.mark.filterwarnings("ignore::semascope.errors.MissingWordsWarning")
@pytest.mark.parametrize("eta", etas(0))
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("inference", ["cvb0", "vb"])
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize("name", MODELS)
def test_every_combination_of_settings_finds_planted_topics_or_is_refused(name, learn, inference, alpha, eta):
    kind, texts = MODELS[name]
    languages = ["en", "de"] if name == "PolylingualLDA" else [""]
    given = {"alpha": ALPHAS[alpha], "eta": etas(18 * len(languages))[eta]}
    model = kind(3, inference=inference, random_state=0, batch_size=30, **given)
    if name == "PolylingualLDA" and learn == "partial_fit":
        with pytest.raises(InputError, match=r"^partial_fit learns from one language, but there are 2: en, de; use LDA\.$"):
            model.partial_fit(texts)
        return
    for part in [texts] if learn == "fit" else [texts[:50], texts[50:]]:
        getattr(model, learn)(part)
    for code in languages:
        top = model.top_words(6, language=code or None)
        assert sorted(map(sorted, top)) == [[f"{word}{code}" for word in block] for block in BLOCKS]
        own = [number for number, word in enumerate(model.vocabulary_) if word.endswith(code)]
        assert_allclose(model.components_[:, own].sum(axis=1), 1, rtol=1e-5)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.doc_topics_).all()
    assert model.alpha_.shape == (3,)
    assert ((model.alpha_ > 0) & (model.alpha_ < 10)).all()
    assert 0 < model.eta_ < 10
    assert (model.alpha_.tolist() == np.full(3, ALPHAS[alpha]).tolist()) if alpha != "auto" else (model.alpha_ != 0.1).all()
    assert (model.eta_ != 0.03) == (eta in ("auto", "vector"))


@pytest.mark.parametrize("batch_size", [1, 7, 50])
@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_a_long_stream_that_learns_eta_keeps_its_topics(inference, batch_size):
    model = ss.LDA(3, inference=inference, eta="auto", random_state=0, batch_size=batch_size)
    for _ in range(4):
        model.partial_fit(block_texts())
    assert sorted(map(sorted, model.top_words(6))) == BLOCKS
    assert 1e-4 <= model.eta_ < 10


@pytest.mark.parametrize("batch_size", [1, 2, 16])
@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_alpha_learned_from_tiny_batches_stays_near_the_true_one(inference, batch_size):
    random = np.random.default_rng(0)
    topics = random.dirichlet(np.full(100, 0.05), 4)
    counts = np.array([random.multinomial(50, theta @ topics) for theta in random.dirichlet(np.full(4, 0.25), 200)])
    model = ss.LDA(4, inference=inference, alpha="auto", random_state=0, batch_size=batch_size)
    for _ in range(3):
        model.partial_fit(counts)
    assert 0.5 < model.alpha_.sum() < 2


# --- settings and what is kept ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha_init", [0.5, [0.1, 0.2, 0.7], np.array([0.3, 0.2, 0.1])], ids=["number", "list", "array"])
@pytest.mark.parametrize("alpha", ["auto", [0.1, 0.2, 0.3]], ids=["auto", "vector"])
def test_a_model_with_learned_priors_is_saved_with_all_of_them(alpha, alpha_init, tmp_path):
    model = ss.LDA(3, alpha=alpha, alpha_init=alpha_init, eta="auto", random_state=0, max_iter=5).fit(random_counts(0))
    model.save(tmp_path / "model")
    again = ss.load(tmp_path / "model")
    assert again.alpha_.tobytes() == model.alpha_.tobytes()
    assert again.eta_ == model.eta_
    assert again.log_likelihood_ == model.log_likelihood_
    assert_allclose(again.alpha_init, alpha_init)
    assert again.eta == "auto"
    assert again.alpha == alpha if isinstance(alpha, str) else list(again.alpha) == alpha
    assert all_draws(again, random_counts(0)).tobytes() == all_draws(model, random_counts(0)).tobytes()
    assert again.fit(random_counts(0)).components_.tobytes() == model.components_.tobytes()


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_learning_starts_where_it_is_told_to(inference, learn):
    few = random_counts(0, 6)
    near, far = (
        getattr(ss.LDA(3, alpha="auto", alpha_init=start, inference=inference, random_state=0, max_iter=1), learn)(few)
        for start in (0.1, [0.1, 2.0, 0.1])
    )
    assert near.alpha_.tolist() != far.alpha_.tolist()


@pytest.mark.parametrize("alpha_init", [0, -1, np.nan, np.inf, None, True, "auto", "1", [0.1] * 2, [0.1, 0, 0.1], [[0.1] * 3]])
def test_an_alpha_init_that_makes_no_sense_is_refused_in_a_sentence(alpha_init):
    for learn in ("fit", "partial_fit"):
        with pytest.raises(InputError) as problem:
            getattr(ss.LDA(3, alpha="auto", alpha_init=alpha_init), learn)(random_counts(0))
        expected = f"LDA: alpha_init must be a number above 0, or 3 of them, but was {alpha_init!r}."
        assert str(problem.value) == expected


def test_the_history_is_that_of_the_passes_with_the_priors_that_were_learned():
    counts, heldout = planted(0, 200), planted(0, 260)[200:]
    model = ss.LDA(6, **AUTO, tol=0, max_iter=9).fit(counts, heldout=heldout)
    assert len(model.log_likelihood_) == 9
    assert model.n_iter_ > 60 + 9
    likely = np.array(model.log_likelihood_)
    assert np.isfinite(likely).all()
    assert likely[-1] > likely[0]
    iterations, seconds, perplexities = np.array(model.heldout_path_).T
    assert iterations[:5].tolist() == [1, 2, 3, 5, 8]
    assert iterations[-1] == model.n_iter_
    assert (np.diff(seconds) >= 0).all()
    assert_allclose(perplexities[-1], model.perplexity(heldout), rtol=1e-6)
    assert perplexities[-1] < perplexities[0]


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_few_iterations_give_a_model_of_use(max_iter):
    counts = planted(1, 200)
    model = ss.LDA(6, **AUTO, max_iter=max_iter).fit(counts)
    assert len(model.log_likelihood_) == max_iter
    assert model.stopped_by_ == "iterations"
    assert model.alpha_.tolist() != [0.1] * 6
    assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-5)
    assert_allclose(model.transform(counts).sum(axis=1), 1, rtol=1e-5)
    assert model.perplexity(counts) < counts.shape[1]


class Impatient(ss.ThreadEngine):
    """An engine whose user presses Ctrl-C in an iteration."""

    pressed_in = 1

    @contextmanager
    def open(self, shards, work_dir=None):
        with super().open(shards, work_dir) as placed:
            step, steps = placed.step, iter(range(1, 1000))

            def pressing(task, state):
                if next(steps) == self.pressed_in:
                    os.kill(os.getpid(), signal.SIGINT)
                return step(task, state)

            placed.step = pressing
            yield placed


@pytest.mark.parametrize("iteration", [1, 8, 30, 64])
def test_ctrl_c_in_any_phase_leaves_a_model_of_use_that_goes_on_to_the_same_bits(iteration, tmp_path):
    counts, engine = planted(1, 200), Impatient()
    engine.pressed_in = iteration
    settings = {**AUTO, "n_components": 6, "max_iter": 4, "tol": 0}
    with pytest.warns(InterruptedFitWarning, match=f"after {iteration} iteration"):
        cut_off = ss.LDA(**settings, engine=engine).fit(counts, checkpoints=ss.Checkpoints(tmp_path / "unfinished"))
    assert cut_off.stopped_by_ == "interrupted"
    assert_allclose(cut_off.components_.sum(axis=1), 1, rtol=1e-5)
    assert (np.isfinite(cut_off.alpha_) & (cut_off.alpha_ > 0)).all()
    assert 0 < cut_off.eta_ < 10
    assert_allclose(cut_off.transform(counts).sum(axis=1), 1, rtol=1e-5)
    cut_off.save(tmp_path / "model")
    assert ss.load(tmp_path / "model").perplexity(counts) < counts.shape[1]
    resumed = ss.LDA(**settings).fit(counts, checkpoints=ss.Checkpoints(tmp_path / "unfinished", resume=True))
    never = ss.LDA(**settings).fit(counts)
    assert resumed.components_.tobytes() == never.components_.tobytes()
    assert resumed.alpha_.tobytes() == never.alpha_.tobytes()
    assert resumed.log_likelihood_ == never.log_likelihood_
