"""The numbers of the source tree, counted in a tree of a few modules."""

import ast
from textwrap import dedent

import pytest
from benchmarks import house, house_metrics
from benchmarks.house_tree import Package

TREE = {
    "__init__": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from semascope.models.topics import LDA as LDA
            from semascope.models.topics import helper as helper
    """,
    "kernels/__init__": '"""Nothing but a docstring."""',
    "kernels/em": "def step():\n    return 1\n",
    "models/__init__": "",
    "models/base": """
        from sklearn.base import BaseEstimator
        class Shown:
            pass
        class Model(Shown, BaseEstimator):
            def __init__(self):
                self._words = 1
            def _fit(self):  # type: ignore[misc, override]
                return self._words
    """,
    "models/topics": """
        from semascope.kernels.em import step
        from semascope.models import base
        class LDA(base.Model):
            def fit(self, X):
                return self._fit() + base._x + step()
        def helper(model):
            return model._words
    """,
    "cli/__init__": "",
    "cli/fit": """
        from semascope.models.topics import LDA
        from semascope.models.base import _other
        def fit(found):
            from semascope.cli import show
            from semascope.kernels.em import step
            return found._replace(a=1)._fit(), found._unknown, LDA()._words, show, step
    """,
    "cli/show": """
        import semascope.cli.fit
        class View:
            _words = 2
        def show(view: View, model: LDA):
            return view._words
    """,
}


@pytest.fixture
def source(tmp_path):
    for name, text in TREE.items():
        path = tmp_path / "semascope" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path


@pytest.fixture
def package(source):
    return Package.read(source)


def function(text):
    return ast.parse(dedent(text)).body[0]


def test_modules_with_a_docstring_alone_are_no_modules(package):
    names = [module.name.removeprefix("semascope.") for module in package.filled]
    assert names == ["semascope", "cli.fit", "cli.show", "kernels.em", "models.base", "models.topics"]
    assert len(house_metrics.lines_of_modules(package)) == 6


def test_lines_of_a_function_are_without_its_docstring():
    documented = '''
        def f():
            """One.

            Two.
            """
            return 1
    '''
    assert house_metrics.lines(function(documented)) == 2


def test_importers_are_counted_at_all_times_and_once_each(package):
    assert house_metrics.with_one_importer(package) == ["semascope.cli.fit", "semascope.cli.show"]


def test_the_longest_chain_is_of_imports_at_once(package):
    chain = ["cli.show", "cli.fit", "models.topics", "kernels.em"]
    assert house_metrics.longest_chain(package) == [f"semascope.{name}" for name in chain]


def test_cycles_through_lazy_imports_are_found(package):
    assert house_metrics.cycles(package) == [["semascope.cli.fit", "semascope.cli.show"]]


def test_kernels_in_the_command_line_are_found(package):
    assert house_metrics.kernels_imported(package) == ["cli/fit.py:6 step"]


def test_own_classes_leave_out_those_of_other_packages(package):
    assert house_metrics.own_classes(package) == {"LDA": ["LDA", "Model", "Shown"]}


def test_ignored_overrides_are_found_beside_other_codes(package):
    assert house_metrics.overrides(package) == ["models/base.py:8"]


def test_private_names_of_other_rooms_are_found(package):
    found = ["cli/fit.py:3 _other", "cli/fit.py:7 found._replace(a=1)._fit", "cli/fit.py:7 LDA()._words"]
    assert sorted(house_metrics.private_accesses(package)) == sorted(found)


def test_complexity_counts_decisions_as_radon_does():
    branchy = """
        def f(a, b):
            if a and b or not a:
                pass
            elif a:
                pass
            for x in a:
                assert x
            else:
                pass
            try:
                pass
            except ValueError:
                pass
            g = lambda: [y for y in b if y if a]
            return 1 if a else 2
    """
    assert house_metrics.complexity(function("def f():\n    pass")) == 1
    assert house_metrics.complexity(function(branchy)) == 14


def test_repeated_code_is_found_once_however_long_it_is(source):
    body = [f"a{number} = {number}" for number in range(8)]
    (source / "semascope" / "one.py").write_text("\n".join(["x = 1", *body, "y = 1"]))
    noise = [line for one in body for line in ("# a comment", "", f"{one}   # another", "import os")]
    (source / "semascope" / "two.py").write_text("\n".join(["x = 2", *noise, "y = 2", *body[:5]]))
    assert house_metrics.repeated(Package.read(source)) == [("one.py:2", "two.py:4", 8)]


def test_openings_are_first_words_of_docstrings(source):
    text = "\n".join(f'def f{n}():\n    """{opening} it."""' for n, opening in enumerate(("Return", "Give", "Give")))
    (source / "semascope" / "one.py").write_text(text)
    assert house_metrics.openings(Package.read(source)) == {"Return": 1, "Give": 2, "Nothing": 1}


def test_a_tree_is_measured_and_shown_beside_itself(source, monkeypatch, capsys):
    monkeypatch.setenv(house.VARIABLE, str(source))
    monkeypatch.setattr(house, "ROOT", source / "none")
    (source / "none").mkdir()
    (source / "none" / "src").symlink_to(source)
    result = house.run(quick=True)
    assert result["trees"]["after"] == result["trees"]["before"]
    house.show(result)
    assert "private accesses across packages" in capsys.readouterr().out


def test_a_folder_without_the_package_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no package semascope"):
        Package.read(tmp_path)
