"""Models are added to a package as the page says, by their files and one row, and everything knows them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import semascope
from documentation.blocks import ROOT, file_of
from helpers import TWO_EXECUTORS, mpirun, spark_environment
from semascope import Corpus

SOURCE = Path(semascope.__file__).parent
PAGE = ROOT / "docs/developer/adding-a-model.md"
CTM_FILES = ("training/ctm.py", "kernels/logistic_normal.py", "models/ctm.py")
CTM_ROW = r'    ModelEntry\(\n        "CorrelatedTopicModel".*?\n    \),\n'
LAST_ROW = '    ModelEntry("OnlineLabeledLDA"'

COMMANDS = """
import json, sys
from pathlib import Path
from semascope.cli.main import main
for command in json.loads(sys.argv[1]):
    sys.argv = ["semascope", *command]
    print("##", *command, flush=True)
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise
from semascope.explorer.service.overview import check_explorable, read_overview
from semascope.explorer.service.snapshot import Snapshot
from semascope.models.loading import load
assert check_explorable(Path("model"))
print(len(read_overview(Path("model"), None).themes), len(Snapshot.of(load("model"), None).themes), "topics are explored")
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package without the correlated topic model; kernels that it has already are where they were compiled."""
    copy, kernels = tmp_path / "src" / "semascope", SOURCE / "kernels"
    compiled = [path.name for path in kernels.glob("*.py")]
    shutil.copytree(SOURCE, copy, ignore=lambda folder, _: ["__pycache__", *(compiled if Path(folder) == kernels else [])])
    (copy / "kernels" / "__init__.py").write_text(f"__path__.append({str(kernels)!r})\n", encoding="utf-8")
    for name in CTM_FILES:
        (copy / name).unlink(missing_ok=True)
    registry = copy / "models" / "registry.py"
    rows, n_rows = re.subn(CTM_ROW, "", registry.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert n_rows == 1
    registry.write_text(rows, encoding="utf-8")
    texts = {path.relative_to(copy).as_posix(): path.read_text(encoding="utf-8") for path in copy.rglob("*.py")}
    left = [name for name, text in texts.items() if "logistic_normal" in text or "models.ctm" in text]
    assert left == ["__init__.py"], "which type checkers alone read"
    return copy


def add(package, files, row):
    """Put the files of a model in place, and its row among the others."""
    for name, content in files.items():
        (package / name).write_text(content, encoding="utf-8")
    registry = package / "models" / "registry.py"
    rows = registry.read_text(encoding="utf-8")
    registry.write_text(rows.replace(LAST_ROW, row + LAST_ROW), encoding="utf-8")


def correlated_topics():
    row = re.search(CTM_ROW, (SOURCE / "models" / "registry.py").read_text(encoding="utf-8"), re.DOTALL)
    return "ctm", {name: (SOURCE / name).read_text(encoding="utf-8") for name in CTM_FILES}, row[0]


def mixture_of_unigrams():
    row = re.search(r"^row = (ModelEntry\(.*?^\))", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return "mixture", {"models/mixture.py": file_of(PAGE, "mixture.py")}, f"    {row[1]},\n"


def run(package, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "COLUMNS": "250"}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=package.parents[1], env=environment, capture_output=True, text=True
    )


@pytest.fixture
def corpus(tmp_path):
    """Documents of which each is about animals or about money, in several shards."""
    random = np.random.default_rng(0)
    words = [["cat", "dog", "horse", "bird", "fish", "purr", "bark"], ["tax", "bank", "loan", "stock", "coin", "bond", "fund"]]
    texts = [" ".join(random.choice(words[number % 2], 8)) for number in range(240)]
    Corpus.from_texts(texts).save(tmp_path / "corpus")


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("new", [correlated_topics, mixture_of_unigrams])
def test_files_and_a_row_make_every_command_know_a_model(new, package):
    name, files, row = new()
    fit = ["fit", "corpus", "model", "--model", name, "--topics", "3", "--max-iter", "30"]
    refused = run(package, "-m", "semascope", *fit)
    assert refused.returncode == 2
    assert f"'{name}' is not one of" in refused.stderr
    add(package, files, row)
    commands = [
        fit, ["info", "model"], ["topics", "model"], ["evaluate", "model"], ["report", "model", "report.html"],
        ["index", "model", "index"], ["search", "index", "cat", "--by", "lda"],
        ["infer", "model", "new.jsonl", "--json"], ["edit", "model", "edited", "--merge", "0,2=both"],
        ["infer", "edited", "new.jsonl", "--json"], ["info", "edited"],
        ["sweep", "corpus", "--model", name, "--topics", "2,3", "--max-iter", "10"],
        [*fit, "--overwrite", "--watch-heldout", "0.2"],
    ]  # fmt: skip
    (package.parents[1] / "new.jsonl").write_text('{"id": "a", "text": "cat and dog"}\n', encoding="utf-8")
    ran = run(package, "-c", COMMANDS, json.dumps(commands))
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert "3 3 topics are explored" in ran.stdout
    assert f"--model {name}" in ran.stdout + ran.stderr  # what evaluate suggests


@pytest.mark.usefixtures("corpus")
def test_the_new_model_is_the_same_on_threads_mpi_and_spark_and_resumed(package, monkeypatch):
    name, files, row = correlated_topics()
    add(package, files, row)
    home = package.parents[1]
    monkeypatch.chdir(home)
    fit = ["-m", "semascope", "fit", "corpus", "--model", name, "--topics", "3", "--tol", "0", "--max-iter", "40"]
    ran = run(package, *fit, "threads")
    assert ran.returncode == 0, ran.stderr
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    ran = mpirun(2, *fit, "ranks", "--engine", "mpi", env=environment | OPEN_MPI)
    assert ran.returncode == 0, ran.stderr
    spark = ["--engine", "spark", "--master", TWO_EXECUTORS, "--work-dir", str(home)]
    on_spark = [sys.executable, *fit, "executors", *spark]
    of_spark = spark_environment() | {"PYTHONPATH": str(package.parent)}
    ran = subprocess.run(on_spark, env=of_spark, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    arrays = [sorted(path.name for path in (home / engine).rglob("*.npy")) for engine in ("threads", "ranks", "executors")]
    assert any("covariance" in array for array in arrays[0])
    for place in ("ranks", "executors"):
        for array in (home / "threads").rglob("*.npy"):
            (other,) = (home / place).rglob(array.name)
            assert other.read_bytes() == array.read_bytes(), array.name


OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
