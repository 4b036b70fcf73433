"""Kernels compile once for each precision, whatever the arrays come from, and are cached under a hash of their sources."""

import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import semascope
from helpers import large_counts
from semascope import LDA, PLSA, Corpus, LabeledLDA, OnlineLabeledLDA, ThreadEngine
from semascope.kernels import jit as compiling


def kernels():
    """All compiled functions by name."""
    for path in Path(compiling.__file__).parent.glob("*.py"):
        module = importlib.import_module(f"semascope.kernels.{path.stem}")
        for name, value in vars(module).items():
            if hasattr(value, "signatures"):
                yield f"{path.stem}.{name}", value


def use_everything(X, texts):
    model = PLSA(3, max_iter=2, random_state=0, engine=ThreadEngine(2)).fit(X)
    model.transform(X)
    model.perplexity(X)
    model.coherence(X)
    model.coherence(X, "c_v")
    labels = [["a", "b"], ["b"]]
    labeled = LabeledLDA(max_iter=2, random_state=0).fit(
        X, [labels[number % 2] for number in range(model.doc_topics_.shape[0])]
    )
    labeled.perplexity(X)
    labeled.predict(X)
    list(LDA(3, alpha="auto", eta="auto", batch_size=1000, random_state=0).partial_fit(X).sample_assignments(X))
    OnlineLabeledLDA(n_initial=2, random_state=0).partial_fit(list(texts), labels)
    read = Corpus.from_texts(texts)
    PLSA(1, max_iter=1, random_state=0).fit(read).coherence(read, "c_v")


def test_nothing_recompiles_on_other_kinds_of_input(tmp_path):
    counts = large_counts()
    corpus = Corpus.from_matrix(counts)
    use_everything(corpus, ["some words", "more words"])
    before = {name: len(function.signatures) for name, function in kernels()}
    corpus.save(tmp_path / "corpus")
    opened = Corpus.open(tmp_path / "corpus")
    model = PLSA(3, max_iter=2, random_state=0).fit(opened)
    model.save(tmp_path / "model")
    semascope.load(tmp_path / "model").transform(opened)
    semascope.load(tmp_path / "model").perplexity(opened)
    for X in (counts, np.asfortranarray(counts), counts.astype(int), counts.astype(np.float32), sp.csc_matrix(counts), opened):
        use_everything(X, ("ñandú " * 30, ""))
    after = {name: len(function.signatures) for name, function in kernels()}
    assert after == before


def test_an_edit_to_any_kernel_leaves_all_old_compiled_code_behind(tmp_path):
    sources = Path(compiling.__file__).parent
    assert compiling.cache_directory().name == f"kernels-{compiling.digest_of(sources)}"
    for source in sources.glob("*.py"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    assert compiling.digest_of(tmp_path) == compiling.digest_of(sources)
    (tmp_path / "exact.py").write_text("# edited\n")
    assert compiling.digest_of(tmp_path) != compiling.digest_of(sources)


def test_compiled_code_is_never_taken_from_what_somebody_else_has_made(monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "_user_cache", lambda: Path("/proc/nowhere"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert compiling.cache_directory().parent == tmp_path / f"semascope-{os.getuid()}"
    another = os.getuid() + 1
    (tmp_path / f"semascope-{another}").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: another)
    assert compiling.cache_directory().parent == tmp_path


def test_other_peoples_functions_keep_their_cache_directory():
    import numba

    assert not str(numba.config.CACHE_DIR).startswith(str(compiling.cache_directory()))


def test_without_a_home_to_write_to_the_kernels_still_run(tmp_path):
    script = "import semascope as ss; print(ss.Corpus.from_texts(['a few words']).n_words)"
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/nowhere", "TMPDIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "2", run.stderr
    assert list(tmp_path.glob("semascope-*/kernels-*/**/*.nbi"))
