"""What the Spark engine promises besides what all engines do, checked in one driver: starting a session takes long.

python tests/contracts/spark_contract.py MASTER CORPUS FOLDER
    runs the contract of engines, then these checks; prints digests of the fitted models.
"""

import json
import sys
from pathlib import Path

from contracts.engine_contract import keep_the_contract, raised, tally
from semascope import LDA, Corpus, SparkEngine
from semascope.engines.spark.session import session_for
from semascope.errors import InputError, TaskError


def a_task_that_fails_every_time_is_given_up_with_a_sentence(engine, corpus_path, folder):
    """The last byte of the corpus is spoilt, which the driver does not look at."""
    Corpus.open(corpus_path).save(folder / "spoilt")
    (words,) = folder.glob("spoilt/*/words*")
    content = bytearray(words.read_bytes())
    content[-1] ^= 0xFF
    words.write_bytes(content)
    said = raised(lambda: LDA(3, engine=engine, max_iter=2).fit(Corpus.open(folder / "spoilt")), TaskError)
    assert said.startswith("a task failed on every attempt: "), said
    assert str(words) in said, said
    assert "See the log of Spark application app-" in said, said
    assert said.count(". ") == 1, said
    assert not list(folder.glob("**/.semascope-spill-*"))


def a_python_of_another_version_on_the_workers_is_named(engine, corpus_path, folder):
    context = session_for(engine.master).sparkContext
    own, context.pythonExec = context.pythonExec, str(_another_python(folder / "python"))
    try:
        said = raised(lambda: LDA(3, engine=engine).fit(Corpus.open(corpus_path)), TaskError)
    finally:
        context.pythonExec = own
    assert "3.99" in said, said
    assert "PYSPARK_PYTHON" in said, said


def _another_python(path):
    """A Python that takes itself for 3.99, and else is this one."""
    path.write_text(f"""#!{sys.executable}
import collections, runpy, sys
sys.version_info = collections.namedtuple("Version", "major minor micro releaselevel serial")(3, 99, 0, "final", 0)
sys.argv = sys.argv[2:]
runpy.run_module(sys.argv[0], run_name="__main__")
""")
    path.chmod(0o755)
    return path


def a_path_that_workers_do_not_see_is_named(engine, corpus_path, folder):
    corpus = Corpus.open(corpus_path)
    with engine.open(corpus.shards(), folder) as placed:
        assert placed.begin(tally)
        (work_dir,) = folder.glob(".semascope-spill-*")
        said = raised(lambda: placed.check_workers_see([str(work_dir), str(folder / "elsewhere")]), InputError)
    assert f"does not see {folder / 'elsewhere'}" in said, said
    assert "--work-dir" in said, said


def another_master_than_that_of_the_session_is_refused(engine, corpus_path, folder):
    said = raised(lambda: session_for("spark://elsewhere:7077"), InputError)
    assert "is active already" in said, said


CHECKS = [
    a_task_that_fails_every_time_is_given_up_with_a_sentence,
    a_path_that_workers_do_not_see_is_named,
    another_master_than_that_of_the_session_is_refused,
    a_python_of_another_version_on_the_workers_is_named,
]


if __name__ == "__main__":
    mine, path, home = SparkEngine(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    digests = keep_the_contract(mine, path, home)
    for check in CHECKS:
        own_folder = home / check.__name__
        own_folder.mkdir()
        check(mine, path, own_folder)
    print("digests", json.dumps(digests))
