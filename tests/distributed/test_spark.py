"""Spark runs lose nothing when executors or the driver die, and say in a sentence what is wrong."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from helpers import TWO_EXECUTORS, spark_environment
from semascope import LDA, Corpus, SparkEngine, load
from semascope.engines.spark.session import describe_failure, describe_start_failure, session_for
from semascope.engines.spark.worker import worker_context
from semascope.errors import MissingExtraError

TOPICS = ["--model", "lda", "--topics", "6", "--tol", "0", "--seed", "5"]


@pytest.fixture(scope="module")
def alone(corpus_path):
    return LDA(6, max_iter=40, tol=0, random_state=5).fit(Corpus.open(corpus_path))


def same(model, other):
    return model.components_.tobytes() == other.components_.tobytes() and model.log_likelihood_ == other.log_likelihood_


def fit(*arguments, **environment):
    """Start ``semascope fit`` with two executors."""
    command = [sys.executable, "-m", "semascope", "fit", *map(str, arguments), "--engine", "spark", "--master", TWO_EXECUTORS]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **streams, env=spark_environment() | environment)


def wait_for(work_dir, iteration, process):
    """Wait until a fit has come to an iteration."""
    end = time.monotonic() + 120
    while not any(work_dir.glob(f".semascope-spill-*-{process.pid}-*/iteration-{iteration:06d}")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def executors_of(process):
    """Process ids of the executors that a driver has."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it is gone meanwhile
            found += [child.pid] if "CoarseGrainedExecutorBackend" in " ".join(child.cmdline()) else []
    return found


def test_a_fit_whose_driver_is_killed_and_then_two_executors_ends_with_the_same_bits(corpus_path, alone, tmp_path):
    command = (corpus_path, tmp_path / "model", *TOPICS, "--max-iter", "40", "--work-dir", tmp_path)
    with fit(*command, "--checkpoint-seconds", "0") as process:
        wait_for(tmp_path, 6, process)
        process.kill()
    assert (tmp_path / "model.checkpoint").is_dir()
    assert not (tmp_path / "model").exists()
    killed = set()
    with fit(*command, "--resume") as process:
        for iteration in (6, 18):
            wait_for(tmp_path, iteration, process)
            victim = next(pid for pid in executors_of(process) if pid not in killed)
            os.kill(victim, signal.SIGKILL)
            killed.add(victim)
        _, errors = process.communicate(timeout=150)
    assert process.returncode == 0, errors
    assert len(killed) == 2
    assert same(load(tmp_path / "model"), alone)
    assert not list(tmp_path.glob(".semascope-spill-*"))


def test_without_java_it_says_what_to_install(corpus_path, tmp_path):
    nowhere = {"PATH": str(Path(sys.executable).parent), "JAVA_HOME": str(tmp_path)}
    with fit(corpus_path, tmp_path / "model", *TOPICS, **nowhere) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in errors
    assert "openjdk-17-jre-headless" in errors


def test_without_pyspark_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'semascope\[spark\]'"):
        session_for(None)


def test_a_worker_names_the_paths_that_it_does_not_see(tmp_path):
    seen = worker_context(0, [str(tmp_path), str(tmp_path / "nowhere")])
    assert seen.unseen == [str(tmp_path / "nowhere")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a.b.PythonException: Traceback\nModuleNotFoundError: No module named 'semascope'\n at x", "no package semascope"),
        ('java.io.IOException: Cannot run program "/opt/py": error=2', "no program /opt/py"),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: 3.11, PySpark cannot",
            "the workers have Python 3.12, but 3.11 runs here",
        ),
        (
            "x.SparkException: \nError from python worker:\n  Traceback (most recent call):\n  TypeError: unsupported\n at z",
            "Python does not start on the workers (TypeError: unsupported)",
        ),
        ("An error occurred while calling o1.\n: Job aborted due to stage failure\n at y", "Job aborted due to stage failure."),
    ],
)
def test_what_spark_says_is_put_into_a_sentence(text, sentence):
    assert sentence in describe_failure(text)


def test_a_master_that_is_not_reached_is_said_to_be_so():
    text = "An error occurred\n: java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n at x"
    assert describe_start_failure(text).startswith("it was not reached")
    assert describe_start_failure("\njava.net.BindException: Address in use\n at y") == "java.net.BindException: Address in use"


def test_a_spark_engine_is_settings_and_connects_to_nothing():
    engine = SparkEngine("spark://nowhere:7077", "/shared")
    assert engine == SparkEngine("spark://nowhere:7077", "/shared")
    assert engine != SparkEngine("spark://nowhere:7077")
    assert engine.is_root
