"""The public names: a list, so that adding one is deliberate; each is described, and shown by an example that doctest runs."""

import ast
import inspect
from functools import cached_property
from pathlib import Path

import pytest

import semascope

PUBLIC = [
    "Analyzer",
    "Checkpoints",
    "Corpus",
    "CorrelatedTopicModel",
    "CountedDocuments",
    "Documents",
    "Index",
    "InformedPrior",
    "LDA",
    "LSA",
    "LabeledLDA",
    "Lexicon",
    "MPIEngine",
    "OnlineLabeledLDA",
    "PLSA",
    "PolylingualLDA",
    "SparkEngine",
    "ThreadEngine",
    "__version__",
    "errors",
    "load",
    "read",
    "read_counts",
    "read_qrels",
]
CLASSES = [name for name in PUBLIC if inspect.isclass(getattr(semascope, name))]


def test_the_public_names_are_these():
    assert semascope.__all__ == PUBLIC
    assert dir(semascope) == PUBLIC


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "__version__"])
def test_every_public_name_has_a_docstring_with_an_example(name):
    text = getattr(semascope, name).__doc__
    assert text
    assert ">>> " in text


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'semascope' has no attribute 'Parrot'"):
        _ = semascope.Parrot


def test_what_type_checkers_see_is_what_is_there():
    (typing,) = [node for node in ast.parse(Path(semascope.__file__).read_text()).body if isinstance(node, ast.If)]
    imports = [node for node in typing.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: (node.module, alias.name) for node in imports for alias in node.names}
    assert sorted([*seen, "__version__"]) == PUBLIC
    for public, (module, name) in seen.items():
        assert public == name
        assert module in (semascope._HOME.get(name), "semascope"), public


def functions_of(kind):
    """What a class offers in its own name or that of ours above it: methods and properties, and the functions behind them."""
    for name, member in inspect.getmembers_static(kind):
        home = next(above for above in kind.__mro__ if name in vars(above) or above is object)
        if name.startswith("_") or not home.__module__.startswith("semascope"):
            continue
        if isinstance(member, property):
            yield name, member.fget
        elif isinstance(member, classmethod | staticmethod):
            yield name, member.__func__
        elif isinstance(member, cached_property):
            yield name, member.func
        elif inspect.isfunction(member):
            yield name, member


def test_methods_properties_and_makers_are_all_looked_at():
    assert {"build", "save", "n_words", "vocabulary"} <= dict(functions_of(semascope.Corpus)).keys()
    assert {"fit", "top_words", "score", "topic_names_", "save"} <= dict(functions_of(semascope.LDA)).keys()


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_has_a_docstring_and_types(name):
    found = dict(functions_of(getattr(semascope, name)))
    assert [method for method, function in found.items() if not function.__doc__] == []
    untyped = [
        f"{method}({parameter})"
        for method, function in found.items()
        for parameter in [*list(inspect.signature(function).parameters)[1:], "return"]
        if parameter not in function.__annotations__
    ]
    assert untyped == []
