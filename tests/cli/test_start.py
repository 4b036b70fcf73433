"""How the command line starts: at once, and a directory that is not there is answered with what makes it."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn")
"""Packages that take long to import."""

START = """
import sys
from semascope.cli.main import main

try:
    main()
finally:
    print(*sorted(set(HEAVY) & sys.modules.keys()), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["fit", "--help"],
        ["fit", "corpus", "model", "--topics", "none"],
        ["fit", "nowhere", "model"],
        ["build", "source", "corpus", "--min-df", "many"],
    ],
    ids=" ".join,
)
def test_help_and_mistakes_are_answered_before_anything_large_is_imported(arguments, tmp_path):
    started = [sys.executable, "-c", f"HEAVY = {HEAVY}\n{START}", *arguments]
    ran = subprocess.run(started, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.stdout or "nowhere" in ran.stderr or "Invalid value" in ran.stderr
    assert ran.stderr.splitlines()[-1] == "", ran.stderr


@pytest.mark.parametrize(
    ("command", "kind", "made_by"),
    [
        ("fit {} model", "corpus", "build SOURCE CORPUS"),
        ("sweep {}", "corpus", "build SOURCE CORPUS"),
        ("topics {}", "model", "fit CORPUS MODEL"),
        ("explore {}", "model", "fit CORPUS MODEL"),
        ("search {} cats", "index", "index MODEL INDEX"),
        ("info {}", "corpus, model or index", "build SOURCE CORPUS"),
    ],
)
def test_a_directory_that_is_not_there_is_answered_with_what_makes_one(run, tmp_path, command, kind, made_by):
    nowhere = tmp_path / "nowhere"
    said = run(*command.format(nowhere).split()).complaint
    assert said == f"{nowhere}: expected a semascope {kind}, but there is no such directory. Make one with: semascope {made_by}"
