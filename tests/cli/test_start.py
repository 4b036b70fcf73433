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


UNUSED = ("fastapi", "matplotlib", "pandas", "pyarrow", "scipy.stats", "sklearn.feature_extraction")
"""Packages that take long to import, and that a new estimator does not need; a search needs Arrow, to read tables."""


def loaded_by(script, tmp_path, *arguments):
    """The packages of `UNUSED` that a script loads."""
    told = f"import sys\n{script}\nprint(*(name for name in {UNUSED!r} if name in sys.modules), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", told, *arguments], capture_output=True, text=True, cwd=tmp_path, check=True)
    return ran.stderr.splitlines()[-1]


def test_a_search_loads_only_what_it_needs(tmp_path):
    from semascope import LDA, Corpus, Index

    corpus = Corpus.from_texts(["cats purr", "dogs bark", "cats and dogs"])
    Index.build(corpus, LDA(2, max_iter=5, random_state=0).fit(corpus), path=tmp_path / "index")
    script = "from semascope.cli.main import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
    assert loaded_by(script, tmp_path, "search", "index", "cats", "--json") == "pyarrow"


@pytest.mark.parametrize("name", ["LDA", "LSA", "PLSA"])
def test_a_new_estimator_loads_only_what_it_needs(name, tmp_path):
    assert loaded_by(f"from semascope import {name}\n{name}()", tmp_path) == ""


def test_what_was_deferred_is_the_real_module_when_it_is_used(tmp_path):
    script = (
        "from semascope import LDA; import sklearn.utils.fixes as fixes, numpy, scipy.stats, pandas\n"
        "assert type(pandas) is type(scipy.stats) is type(sys)\n"
        "assert getattr(fixes, 'pd', pandas).DataFrame is pandas.DataFrame\n"
        "assert fixes._mode(numpy.array([1, 2, 2])).mode == 2\n"
    )
    assert {"pandas", "scipy.stats"} <= {*loaded_by(script, tmp_path).split()}


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
    assert (
        said == f"{nowhere}: expected a semascope {kind}, but there is no such directory. Create one with: semascope {made_by}"
    )
