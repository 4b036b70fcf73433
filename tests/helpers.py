"""Small corpora and where the real ones are."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from semascope.training.plsa import EM


def random_counts(seed, n_documents=30, n_words=25, n_topics=3, length=40):
    """Counts of a small planted topic model; some documents are empty, some words never used."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.2), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.5), n_documents)
    lengths = rng.poisson(length, n_documents) * (rng.random(n_documents) > 0.1)
    return np.array([rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, theta @ topics, strict=True)], dtype=float)


def large_counts(seed=0, n_documents=600, n_words=900, n_topics=8):
    """Counts that are cut into several shards."""
    return random_counts(seed, n_documents, n_words, n_topics, length=150)


def collection(name):
    """Texts of a real collection, by language where it has several; skips when it is not there."""
    return [text for texts in collection_by_language(name).values() for text in texts]


def collection_by_language(name):
    """Texts of a real collection in a list for each language, "" where there is only one; skips when it is not there."""
    by_language = {}
    with gzip.open(collection_path(name), "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            for language, text in record.get("texts", {"": record.get("text")}).items():
                by_language.setdefault(language, []).append(text)
    return by_language


def collection_path(name):
    """The documents of a real collection; skips when it is not there."""
    home = os.environ.get("SEMASCOPE_DATA")
    path = Path(home or "", name, "docs.jsonl.gz")
    if not home or not path.is_file():
        pytest.skip(f"needs the collection {name}: set SEMASCOPE_DATA to the folder that holds it")
    return path


def mpirun(n_ranks, *arguments, wait=True, **options):
    """Run a Python script on so many MPI ranks; as root and on few cores, too."""
    command = [str(Path(sys.executable).parent / "mpirun"), "-n", str(n_ranks), "--oversubscribe", "--bind-to", "none"]
    command += [sys.executable, *map(str, arguments)]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment} | options
    return subprocess.run(command, timeout=90, check=False, **streams) if wait else subprocess.Popen(command, **streams)


TWO_EXECUTORS = "local-cluster[2,1,1024]"
"""A Spark master that starts two real executor processes on this machine."""


def spark_environment():
    """Where Java starts soon rather than running fast, and executors find the modules of tests."""
    return os.environ | {
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYSPARK_SUBMIT_ARGS": "--conf spark.ui.enabled=false pyspark-shell",
        "PYTHONPATH": str(Path(__file__).parent),
    }


def on_spark(*arguments):
    """Run a Python script that is a driver of Spark."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, timeout=400, check=False, capture_output=True, text=True, env=spark_environment())


def press_ctrl_c(monkeypatch, iteration):
    """Have Ctrl-C pressed once, in the given iteration of a fit."""
    update, done = EM.update, []

    def interrupted(self, *arguments):
        done.append(1)
        if len(done) == iteration:
            signal.raise_signal(signal.SIGINT)
        return update(self, *arguments)

    monkeypatch.setattr(EM, "update", interrupted)


def hands_of_a_clock(monkeypatch, module):
    """The time of day for a module that imports `time`, in a list of one number to be changed.

    Only this module's own name is changed: a server's loop on another thread that saw such times would wait for hours.
    """
    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now
