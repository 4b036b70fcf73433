"""A run that was cut off and resumed gives the same bits as one that was not."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from helpers import large_counts
from semascope import PLSA, Checkpoints, Corpus, ThreadEngine, load
from semascope.errors import FormatError, InputError, InterruptedFitWarning
from semascope.storage import open_directory
from semascope.training import checkpoint
from semascope.training.stopping import StopRule

SETTINGS = {"n_components": 6, "max_iter": 40, "tol": 0, "random_state": 5}


@pytest.fixture(scope="module")
def uninterrupted(corpus_path):
    return PLSA(**SETTINGS).fit(Corpus.open(corpus_path))


def same(model, other):
    return (
        model.components_.tobytes() == other.components_.tobytes()
        and model.doc_topics_.tobytes() == other.doc_topics_.tobytes()
        and model.log_likelihood_ == other.log_likelihood_
    )


SCRIPT = """
import sys, semascope as ss
from pathlib import Path
from semascope.storage import is_directory_of
corpus, out, unfinished = map(Path, sys.argv[1:])
settings = {settings!r}
resume = is_directory_of(unfinished) == "checkpoint"
print("ready", flush=True)
ss.PLSA(**settings).fit(ss.Corpus.open(corpus), checkpoints=ss.Checkpoints(unfinished, 0.0, resume=resume)).save(out)
"""


def test_a_run_killed_at_any_moment_and_resumed_gives_the_same_bits(corpus_path, uninterrupted, tmp_path):
    """Kill it again and again, at random moments, until it gets through."""
    out, unfinished = tmp_path / "model", tmp_path / "unfinished"
    command = [sys.executable, "-c", SCRIPT.format(settings=SETTINGS), str(corpus_path), str(out), str(unfinished)]
    chance, killed = random.Random(0), 0
    for attempt in range(60):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            timer = threading.Timer(chance.uniform(0.3, 1.5) if attempt < 5 else 60, process.kill)
            timer.start()
            process.wait()
            timer.cancel()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        killed += 1
    assert killed >= 1
    assert same(load(out), uninterrupted)


def test_ctrl_c_keeps_the_model_so_far_and_a_checkpoint(corpus_path, uninterrupted, tmp_path):
    class Impatient(ThreadEngine):
        """An engine whose user presses Ctrl-C during the seventh iteration."""

        @contextmanager
        def open(self, shards, work_dir=None):
            with super().open(shards, work_dir) as placed:
                step, steps = placed.step, iter(range(1000))

                def pressing(task, state):
                    if next(steps) == 6:
                        os.kill(os.getpid(), signal.SIGINT)
                        time.sleep(0.01)
                    return step(task, state)

                placed.step = pressing
                yield placed

    checkpoints = Checkpoints(tmp_path / "unfinished")
    with pytest.warns(InterruptedFitWarning, match="after 7 iterations"):
        model = PLSA(**SETTINGS, engine=Impatient()).fit(Corpus.open(corpus_path), checkpoints=checkpoints)
    assert model.stopped_by_ == "interrupted"
    assert model.log_likelihood_ == uninterrupted.log_likelihood_[:7]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    resumed = PLSA(**SETTINGS).fit(Corpus.open(corpus_path), checkpoints=Checkpoints(tmp_path / "unfinished", resume=True))
    assert same(resumed, uninterrupted)


def test_a_checkpoint_of_another_run_is_refused(corpus_path, tmp_path):
    corpus = Corpus.open(corpus_path)
    PLSA(**SETTINGS | {"max_iter": 2}).fit(corpus, checkpoints=Checkpoints(tmp_path / "c", 0.0))
    with pytest.raises(InputError, match=r"a run with n_topics = 6, but this run has n_topics = 7"):
        PLSA(**SETTINGS | {"n_components": 7}).fit(corpus, checkpoints=Checkpoints(tmp_path / "c", resume=True))
    for this, other in ((None, 0.9), (0.9, None)):
        unfinished = tmp_path / f"tempered by {this}"
        PLSA(**SETTINGS | {"max_iter": 2, "tempering": this}).fit(corpus, checkpoints=Checkpoints(unfinished, 0.0))
        with pytest.raises(InputError, match=f"a run with tempering = {this}, but this run has tempering = {other}"):
            PLSA(**SETTINGS, tempering=other).fit(corpus, checkpoints=Checkpoints(unfinished, resume=True))
    with pytest.raises(InputError, match="with corpus ="):
        other = Corpus.from_matrix(np.roll(large_counts(), 1, axis=0))
        PLSA(**SETTINGS).fit(other, checkpoints=Checkpoints(tmp_path / "c", resume=True))


def test_resuming_without_a_checkpoint_is_refused(corpus_path, tmp_path):
    with pytest.raises(FormatError, match="there is no such directory"):
        PLSA(**SETTINGS).fit(Corpus.open(corpus_path), checkpoints=Checkpoints(tmp_path / "none", resume=True))


def test_a_full_disk_while_checkpointing_leaves_the_last_good_checkpoint(corpus_path, uninterrupted, tmp_path, monkeypatch):
    corpus, unfinished = Corpus.open(corpus_path), tmp_path / "unfinished"
    PLSA(**SETTINGS | {"max_iter": 5}).fit(corpus, checkpoints=Checkpoints(unfinished, 0.0))

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
        patched.setattr(np, "save", full)
        PLSA(**SETTINGS).fit(corpus, checkpoints=Checkpoints(unfinished, 0.0, resume=True))
    assert len(open_directory(unfinished, checkpoint.KIND).facts["history"]) == 5
    assert same(PLSA(**SETTINGS).fit(corpus, checkpoints=Checkpoints(unfinished, resume=True)), uninterrupted)


def test_a_checkpoint_is_due_by_time(tmp_path):
    assert not Checkpoints(tmp_path, seconds=1000).due()
    assert Checkpoints(tmp_path, seconds=0).due()


def test_fits_stop_for_the_first_reason_that_holds():
    stop = StopRule(max_iter=5, tol=0.01, max_seconds=10)
    assert stop([], 0) is None
    assert stop([-100.0, -90.0], 0) is None
    assert stop([-100.0, -99.9], 0) == "converged"
    assert stop([-5.0, -4.0, -3.0, -2.0, -1.0], 0) == "iterations"
    assert stop([-100.0, -90.0], 11) == "time"


def test_fitting_in_another_thread_leaves_signals_alone():
    errors = []

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                PLSA(2, random_state=0, max_iter=3).fit([[1, 2], [3, 1]])
            except Exception as error:
                errors.append(error)

    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    assert not errors


def test_convergence_still_equals_its_name_of_0_1():
    reason = StopRule(10, 0.1)([-100.0, -99.9], 0)
    assert reason == "converged"
    assert reason in {"converged"}
    with pytest.warns(DeprecationWarning, match="settled"):
        assert reason == "settled"
    assert reason != "iterations"
