"""A fit that is watched by documents held out: what is noted, and that nothing else changes."""

import numpy as np
import pytest

from helpers import hands_of_a_clock, large_counts, mpirun, press_ctrl_c
from semascope import LDA, PLSA, Checkpoints, Corpus, ThreadEngine, load
from semascope.errors import InputError, InterruptedFitWarning
from semascope.training import loop
from semascope.training.plsa import EM

SETTINGS = {"n_components": 4, "max_iter": 10, "tol": 0, "random_state": 3}


@pytest.fixture(scope="module")
def parts():
    return Corpus.from_matrix(large_counts()).split(0.2, seed=1)


def without_seconds(model):
    return [(iteration, perplexity) for iteration, _, perplexity in model.heldout_path_]


WATCHED = [
    PLSA(**SETTINGS),
    PLSA(**SETTINGS, tempering=0.8),
    PLSA(**SETTINGS, tempering="auto"),
    LDA(**SETTINGS),
    LDA(**SETTINGS, alpha="auto"),
    LDA(**SETTINGS, alpha=[0.01, 0.1, 0.2, 1.0], inference="vb"),
]


@pytest.mark.parametrize("model", WATCHED)
def test_the_path_ends_with_the_perplexity_of_the_model(parts, model):
    train, heldout = parts
    model.fit(train, heldout=heldout)
    iterations, seconds, perplexities = zip(*model.heldout_path_, strict=True)
    assert iterations[:5] == (1, 2, 3, 5, 8)
    assert iterations[-1] == model.n_iter_
    assert list(seconds) == sorted(seconds)
    assert seconds[0] > 0
    assert perplexities[-1] == pytest.approx(model.perplexity(heldout, prior="own"), rel=1e-12)
    assert perplexities[-1] < perplexities[0]


def test_while_alpha_is_learned_each_step_is_judged_by_the_alpha_of_that_time(parts):
    train, heldout = parts
    settings = {**SETTINGS, "alpha": "auto", "inference": "vb", "max_iter": 30}  # which learns it in every pass
    model = LDA(**settings).fit(train, heldout=heldout)
    passes = model.n_iter_ - len(model.elbo_)  # of CVB0, which come first
    later = [(iteration - passes, perplexity) for iteration, perplexity in without_seconds(model) if iteration > passes]
    assert len(later) > 1
    for iteration, perplexity in later:
        stopped = LDA(**{**settings, "max_iter": iteration}).fit(train)
        assert perplexity == pytest.approx(stopped.perplexity(heldout), rel=1e-12)


def test_being_watched_changes_no_bit_of_the_model(parts):
    train, heldout = parts
    alone, watched = LDA(**SETTINGS).fit(train), LDA(**SETTINGS).fit(train, heldout=heldout)
    assert alone.components_.tobytes() == watched.components_.tobytes()
    assert alone.heldout_path_ == []


@pytest.mark.parametrize("engine", [ThreadEngine(1), ThreadEngine(3), ThreadEngine(spill=True)])
def test_the_path_is_the_same_on_any_engine(parts, engine):
    train, heldout = parts
    model = PLSA(**SETTINGS, engine=engine).fit(train, heldout=heldout)
    assert without_seconds(model) == without_seconds(PLSA(**SETTINGS).fit(train, heldout=heldout))


def test_the_path_is_the_same_on_two_ranks(corpus_path, tmp_path):
    (tmp_path / "script.py").write_text(f"""
import sys, semascope as ss
train, heldout = ss.Corpus.open(sys.argv[1]).split(0.2, seed=1)
model = ss.PLSA(**{SETTINGS}, engine=ss.MPIEngine()).fit(train, heldout=heldout)
model.save(sys.argv[2])
sys.stdout.write(f"{{model.heldout_path_}}\\n")
""")
    ran = mpirun(2, tmp_path / "script.py", corpus_path, tmp_path / "model")
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()
    assert first == second  # seconds and all
    train, heldout = Corpus.open(corpus_path).split(0.2, seed=1)
    assert without_seconds(load(tmp_path / "model")) == without_seconds(PLSA(**SETTINGS).fit(train, heldout=heldout))


def test_the_path_is_kept_with_the_model(parts, tmp_path):
    train, heldout = parts
    model = PLSA(**SETTINGS).fit(train, heldout=heldout)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").heldout_path_ == model.heldout_path_


def test_a_run_that_was_cut_off_and_resumed_has_the_whole_path(parts, tmp_path, monkeypatch):
    train, heldout = parts
    press_ctrl_c(monkeypatch, iteration=6)
    with pytest.warns(InterruptedFitWarning):
        cut_off = PLSA(**SETTINGS).fit(train, heldout=heldout, checkpoints=Checkpoints(tmp_path / "c"))
    assert [iteration for iteration, _ in without_seconds(cut_off)] == [1, 2, 3, 5, 6]
    resumed = PLSA(**SETTINGS).fit(train, heldout=heldout, checkpoints=Checkpoints(tmp_path / "c", resume=True))
    assert without_seconds(resumed) == without_seconds(PLSA(**SETTINGS).fit(train, heldout=heldout))
    seconds = [step[1] for step in resumed.heldout_path_]
    assert seconds == sorted(seconds)
    with pytest.raises(InputError, match="cannot resume: the checkpoint is of a run with heldout = "):
        PLSA(**SETTINGS).fit(train, heldout=train, checkpoints=Checkpoints(tmp_path / "c", resume=True))


def test_time_spent_on_looking_does_not_count(monkeypatch):
    now = hands_of_a_clock(monkeypatch, loop)
    stopwatch = loop.Stopwatch(seconds=5.0)
    now[0] += 2
    stopwatch.without(lambda: now.__setitem__(0, now[0] + 1000))
    now[0] += 3
    assert stopwatch.seconds() == 10


def test_texts_and_matrices_judge_as_well():
    texts = ["cat dog bird", "dog cat", "bird cat dog", "tax law", "law tax bank"] * 4
    assert PLSA(2, random_state=0).fit(texts, heldout=["cat dog", "tax law law"]).heldout_path_
    assert PLSA(2, random_state=0).fit(np.eye(4) + 1, heldout=[[1, 1, 1, 1]]).heldout_path_


@pytest.mark.parametrize("heldout", [["zebra giraffe"], ["cat"], []])
def test_documents_that_nothing_can_be_judged_by_are_refused_before_the_fit(heldout, monkeypatch):
    monkeypatch.setattr(EM, "init_shard", None)
    corpus = Corpus.from_texts(["cat dog", "dog cat tax"])
    given = heldout or corpus.filter([])
    with pytest.raises(InputError, match="at least two words that the model knows"):
        PLSA(1).fit(corpus, heldout=given)
