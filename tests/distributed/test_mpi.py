"""MPI runs that go wrong end with a sentence, and lose nothing."""

import os
import re
import subprocess
import sys

import pytest

from helpers import mpirun
from semascope import PLSA, Corpus, MPIEngine, load
from semascope.engines import mpi
from semascope.engines.fingerprint import fingerprint, fingerprint_difference
from semascope.errors import MissingExtraError
from semascope.storage import is_directory_of

SETTINGS = ["--topics", "6", "--max-iter", "60", "--tol", "0", "--seed", "5"]


@pytest.fixture(scope="module")
def alone(corpus_path):
    return PLSA(6, max_iter=60, tol=0, random_state=5).fit(Corpus.open(corpus_path))


def script(tmp_path, text):
    path = tmp_path / "script.py"
    path.write_text("import sys, semascope as ss\nfrom mpi4py import MPI\nrank = MPI.COMM_WORLD.rank\n" + text)
    return path


def same(model, other):
    return model.components_.tobytes() == other.components_.tobytes() and model.log_likelihood_ == other.log_likelihood_


def test_a_script_fits_the_same_model_on_every_rank_and_saves_it_once(corpus_path, alone, tmp_path):
    text = """
model = ss.PLSA(6, max_iter=60, tol=0, random_state=5, engine=ss.MPIEngine())
model.fit(ss.Corpus.open(sys.argv[1])).save(sys.argv[2])
shares = model.transform(ss.Corpus.open(sys.argv[1]))
print("rank", rank, hash((model.components_.tobytes(), model.doc_topics_.tobytes(), shares.tobytes())))
"""
    ran = mpirun(3, script(tmp_path, text), corpus_path, tmp_path / "model", env=os_environ(PYTHONHASHSEED="0"))
    assert ran.returncode == 0, ran.stderr
    digests = re.findall(r"rank \d (-?\d+)", ran.stdout)
    assert len(digests) == 3
    assert len(set(digests)) == 1
    assert same(load(tmp_path / "model"), alone)


def test_labels_are_learned_and_predicted_alike_on_every_rank(corpus_path, tmp_path):
    text = """
corpus = ss.Corpus.open(sys.argv[1])
labels = [[str(number % 7), str(number % 3)] if number % 5 else [] for number in range(len(corpus))]
model = ss.LabeledLDA(max_iter=8, random_state=5, engine=ss.MPIEngine() if len(sys.argv) > 2 else None).fit(corpus, labels)
answers = model.components_.tobytes(), model.transform(corpus).tobytes(), str(model.predict(corpus)), model.perplexity(corpus)
print("rank", rank, hash(answers))
"""
    environment, path = os_environ(PYTHONHASHSEED="0"), script(tmp_path, text)
    alone, together = mpirun(1, path, corpus_path, env=environment), mpirun(3, path, corpus_path, "mpi", env=environment)
    assert alone.returncode == together.returncode == 0, alone.stderr + together.stderr
    digests = re.findall(r"rank \d (-?\d+)", alone.stdout + together.stdout)
    assert len(digests) == 4
    assert len(set(digests)) == 1


def os_environ(**more):
    return os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | more


def test_ranks_exchange_the_statistics_and_nothing_else(corpus_path, tmp_path):
    text = """
from semascope.training.plsa import EM
corpus = ss.Corpus.open(sys.argv[1])
em = EM(6, corpus.n_documents, corpus.n_words, corpus.n_tokens, seed=0)
shards = corpus.shards()
with ss.MPIEngine().open(shards) as placed:
    state = em.init_state(placed.begin(em.init_shard))
    before = placed.bytes_reduced
    placed.step(em.step, state)
    assert placed.bytes_reduced - before == 8 * corpus.n_words * 6 + 8 * len(shards), placed.bytes_reduced - before
"""
    ran = mpirun(2, script(tmp_path, text), corpus_path)
    assert ran.returncode == 0, ran.stderr


def test_a_killed_rank_ends_the_job_with_a_sentence_and_it_resumes_to_the_same_bits(corpus_path, alone, tmp_path):
    command = ["-m", "semascope", "fit", corpus_path, tmp_path / "model", *SETTINGS, "--engine", "mpi"]
    text = """
import os, signal, runpy
if rank == 1:  # die in the middle of the twentieth iteration
    from semascope.training.plsa import EM
    step, calls = EM.step, iter(range(10**6))
    def dying(self, shard, local, state):
        if next(calls) >= 20 * 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(self, shard, local, state)
    EM.step = dying
sys.argv[0] = "semascope"
from semascope.cli.main import main
main()
"""
    arguments = [*command[2:], "--checkpoint-seconds", "0"]
    ran = mpirun(2, script(tmp_path, text), *arguments)
    assert ran.returncode != 0
    assert "semascope: the run was aborted: a rank died" in ran.stderr
    assert "--resume" in ran.stderr
    assert is_directory_of(tmp_path / "model.checkpoint") == "checkpoint"
    ran = mpirun(3, *command, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert same(load(tmp_path / "model"), alone)
    assert not (tmp_path / "model.checkpoint").exists()


def test_a_full_disk_on_one_rank_leaves_the_last_good_checkpoint(corpus_path, alone, tmp_path):
    text = """
import numpy as np
if rank == 1:
    save, calls = np.save, iter(range(10**6))
    def full(*args, **kwargs):
        if next(calls) >= 12:
            raise OSError(28, "No space left on device")
        return save(*args, **kwargs)
    np.save = full
sys.argv[0] = "semascope"
from semascope.cli.main import main
main()
"""
    arguments = ["fit", corpus_path, tmp_path / "model", *SETTINGS, "--engine", "mpi"]
    ran = mpirun(2, script(tmp_path, text), *arguments, "--checkpoint-seconds", "0")
    assert ran.returncode != 0
    assert ran.stderr.count("No space left on device") == 1
    assert "semascope: " in ran.stderr
    assert mpirun(2, "-m", "semascope", *arguments, "--resume").returncode == 0
    assert same(load(tmp_path / "model"), alone)


def test_what_is_wrong_for_all_ranks_is_said_once(corpus_path, tmp_path):
    for arguments, sentence in (
        ((corpus_path, tmp_path / "m", "--topics", "100000"), "too many for the data"),
        ((tmp_path / "nowhere", tmp_path / "m"), "there is no such directory"),
    ):
        ran = mpirun(3, "-m", "semascope", "fit", *arguments, "--engine", "mpi")
        assert ran.returncode != 0
        assert ran.stderr.count("semascope: ") == 1, ran.stderr
        assert sentence in ran.stderr
        assert "Traceback" not in ran.stderr


def test_a_corpus_that_one_rank_cannot_see_is_named_with_the_rank(corpus_path, tmp_path):
    text = """
from pathlib import Path
path = Path(sys.argv[1] if rank != 1 else "/nowhere/corpus")
engine = ss.MPIEngine()
try:
    engine.run_on_all(lambda: ss.Corpus.open(path))
except ss.errors.FormatError as error:
    print(f"[{error}]")
"""
    ran = mpirun(2, script(tmp_path, "import semascope.errors\n" + text), corpus_path)
    sentence = "[rank 1: /nowhere/corpus: expected a semascope corpus (version 2), but there is no such directory.]"
    assert ran.stdout.count(sentence) == 2, ran.stdout + ran.stderr


def test_ranks_that_are_unlike_are_refused(corpus_path, tmp_path):
    text = """
from semascope.engines import mpi
if rank == 1:
    mpi.fingerprint = lambda: {**ss.engines.fingerprint.fingerprint(), "numba": "0.1.2"}
sys.argv[0] = "semascope"
from semascope.cli.main import main
main()
"""
    ran = mpirun(2, script(tmp_path, text), "fit", corpus_path, tmp_path / "m", *SETTINGS, "--engine", "mpi")
    assert ran.returncode != 0
    assert ran.stderr.count("rank 1 has numba 0.1.2, but rank 0 has numba") == 1
    assert "Traceback" not in ran.stderr


def test_a_directory_that_ranks_are_to_work_in_is_made_and_taken_before_that_of_checkpoints(corpus_path, tmp_path):
    text = """
import os
from pathlib import Path
with ss.MPIEngine(work_dir=sys.argv[2]).open(ss.Corpus.open(sys.argv[1]).shards(), Path(sys.argv[3])):
    print(len(os.listdir(sys.argv[2])), "there,", len(os.listdir(sys.argv[3])), "elsewhere")
    MPI.COMM_WORLD.Barrier()
"""
    (tmp_path / "checkpoints").mkdir()
    ran = mpirun(2, script(tmp_path, text), corpus_path, tmp_path / "new" / "work", tmp_path / "checkpoints")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["1 there, 0 elsewhere"] * 2


def test_fingerprint_names_what_results_depend_on():
    assert fingerprint() == fingerprint()
    assert fingerprint_difference([("rank 0", fingerprint()), ("rank 1", fingerprint())]) is None
    unlike = {**fingerprint(), "processor": "other"}
    assert "rank 1 has processor other, but rank 0 has" in fingerprint_difference(
        [("rank 0", fingerprint()), ("rank 1", unlike)]
    )


def test_without_mpirun_there_is_one_rank_and_that_is_said(corpus_path, tmp_path, alone):
    command = [sys.executable, "-m", "semascope", "fit", corpus_path, tmp_path / "m", *SETTINGS, "--engine", "mpi"]
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True, env=os_environ())
    assert "Running with a single MPI rank; for more, use: mpirun" in ran.stderr
    assert same(load(tmp_path / "m"), alone)


def test_without_mpi4py_the_sentence_says_what_to_install(monkeypatch):
    mpi.world.cache_clear()
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'semascope\[mpi\]'"):
        MPIEngine().open([]).__enter__()
    mpi.world.cache_clear()


def test_an_mpi_engine_is_settings_only():
    from sklearn.base import clone

    assert clone(PLSA(2, engine=MPIEngine(3))).engine == MPIEngine(3)
