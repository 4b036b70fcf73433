"""Every model of the package is what its row says, and every command knows it by that row."""

import inspect
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest

import semascope
from semascope import Corpus, ThreadEngine, load
from semascope.cli.commands import fit as fit_command
from semascope.explorer.service.snapshot import Snapshot
from semascope.models import layouts, registry
from semascope.models.layouts import TopicArray, over_topics
from semascope.models.loading import load_topics
from semascope.retrieval.segment_store import vectors_by
from semascope.storage import is_directory_of
from semascope.storage.layout import numbers

ROWS = pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
OF_TOPICS = [entry for entry in registry.ENTRIES if entry.kind == registry.TOPICS]
COMMANDS = pytest.mark.parametrize("name", registry.commands())

TEXTS = ["cats purr and sleep", "dogs bark at cats", "stocks fall and bonds rise", "bonds fall", "cats and dogs", "stocks rise"]
LABELS = [["pets"], ["pets"], ["money"], ["money"], ["pets"], ["money"]]
TRANSLATED = [{"en": text, "de": " ".join(word[::-1] for word in text.split())} for text in TEXTS]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """A corpus with labels, and one in two languages."""
    home = tmp_path_factory.mktemp("corpora")
    Corpus.from_texts(TEXTS, labels=LABELS).save(home / "one")
    Corpus.from_texts(TRANSLATED).save(home / "several")
    return home


@pytest.fixture(scope="module")
def saved(corpora, tmp_path_factory):
    """A model of every row, fitted and saved."""
    home = tmp_path_factory.mktemp("models")
    for entry in registry.ENTRIES:
        corpus = Corpus.open(corpora / ("several" if entry.several_languages else "one"))
        model_class = entry.load_class()
        settings = {"n_components": 2} if entry.is_swept else {}
        model = model_class(random_state=0, **settings)
        (model.partial_fit if entry.streams else model.fit)(corpus)
        model.save(home / entry.name)
    return home


@ROWS
def test_the_class_is_where_its_row_says_and_public(entry):
    model_class = entry.load_class()
    assert model_class.__name__ == entry.name
    assert getattr(semascope, entry.name) is model_class
    assert model_class.kind == entry.kind
    assert model_class.learns_from_streams == entry.streams


@ROWS
def test_its_options_are_those_of_the_command_and_of_the_class(entry):
    known = {name.replace("_", "-") for name in inspect.signature(fit_command.fit).parameters}
    assert {*entry.options} <= known
    parameters = inspect.signature(entry.load_class()).parameters
    taken = {option.replace("-", "_") for option in entry.options if option in fit_command.SETTINGS}
    assert taken <= set(parameters)
    if entry.is_swept:
        assert "n_components" in parameters
    if "watch-heldout" in entry.options:
        assert "heldout" in inspect.signature(entry.load_class().fit).parameters


@ROWS
def test_the_defaults_that_help_shows_are_those_of_the_class(entry):
    usual = {"max-iter": 100, "tol": 1e-4}
    parameters = inspect.signature(entry.load_class()).parameters
    for option, default in {**usual, **entry.defaults}.items():
        if entry.command and option != "topics" and default != "never":
            assert parameters[option.replace("-", "_")].default == float(default)


@ROWS
def test_its_files_are_what_its_layouts_declare(entry, saved):
    declared = [getattr(layouts, name) for name in entry.layouts]
    assert all(map(callable, declared))
    kinds = {registry.TOPICS: {"topic_layout"}, registry.DIMENSIONS: {"space_layout"}}
    assert set(entry.layouts) == kinds.get(entry.kind, set(entry.layouts))
    preview = entry.traits.preview
    assert preview is None or preview in entry.layouts
    assert is_directory_of(saved / entry.name) == "model"


@pytest.mark.parametrize("entry", OF_TOPICS, ids=lambda entry: entry.name)
def test_arrays_over_topics_say_what_becomes_of_them(entry):
    arrays = entry.load_class().saved_arrays
    assert all(isinstance(array, TopicArray) for array in arrays.values() if "n_topics" in array.shape)


@ROWS
def test_a_saved_model_is_loaded_as_it_was(entry, saved):
    loaded = load(saved / entry.name)
    assert type(loaded) is entry.load_class()
    assert registry.entry_of(loaded) is entry
    texts = TRANSLATED if entry.several_languages else TEXTS
    assert np.isfinite(np.asarray(loaded.transform(texts))).all()
    assert loaded.describe_fit() if not entry.streams else True


@ROWS
def test_every_command_knows_the_model(entry, saved, corpora, run, tmp_path):
    path, corpus = saved / entry.name, corpora / ("several" if entry.several_languages else "one")
    assert run("info", path, "--json").json[0]["model"] == entry.name
    assert run("info", path).code == 0
    assert run(entry.traits.show, path).code == 0
    assert (run("evaluate", path, corpus).code == 0) == entry.traits.evaluate
    assert (run("report", path, tmp_path / "report.html", "--corpus", corpus).code == 0) == entry.traits.explore
    searched = run("index", path, tmp_path / "index", "--corpus", corpus)
    assert (searched.code == 0) == (entry.traits.vectors is not None), searched.err
    if searched.code == 0:
        assert run("search", tmp_path / "index", "cats").code == 0


@ROWS
def test_the_explorer_shows_what_the_row_says(entry, saved, corpora):
    if entry.traits.explore:
        corpus = corpora / ("several" if entry.several_languages else "one")
        explored = Snapshot.of(load_topics(saved / entry.name, or_labels=True), corpus)
        assert explored.themes.kind == entry.kind
        assert explored.overview.n == len(TEXTS)


@COMMANDS
def test_a_fit_on_the_command_line_makes_the_model_of_the_row(name, corpora, run, tmp_path):
    options = ["--topics", 2] if "topics" in registry.entry_for(name).options else []
    ran = run("fit", corpora / "one", tmp_path / "model", "--model", name, *options, "--max-iter", 5)
    assert ran.code == 0, ran.err
    assert type(load(tmp_path / "model")) is registry.entry_for(name).load_class()


@COMMANDS
def test_options_of_other_models_are_refused_and_their_own_are_taken(name, corpora, run, tmp_path):
    options = registry.entry_for(name).options
    ran = run("fit", corpora / "one", tmp_path / "model", "--model", name, "--tempering", "0.9", "--topics", 2, "--max-iter", 3)
    assert (ran.code == 0) == ({"tempering", "topics"} <= {*options})


@pytest.mark.parametrize("name", registry.commands(swept=True))
def test_a_sweep_tries_the_model(name, corpora, run):
    ran = run("sweep", corpora / "one", "--model", name, "--topics", "1,2", "--heldout", 0.34, "--max-iter", 3, "--json")
    assert ran.code == 0, ran.err
    assert [line["topics"] for line in ran.json[:-1]] == [1, 2]


def test_settings_without_an_option_are_set_by_name(corpora, run, tmp_path):
    fit = ["fit", corpora / "one", tmp_path / "model", "--topics", 2, "--max-iter", 3]
    assert run(*fit, "--set", "dtype=float64").code == 0
    assert load(tmp_path / "model").components_.dtype == np.float64
    for wrong in ("dtype", "parrot=1", "n_components=3"):
        ran = run(*fit, "--overwrite", "--set", wrong)
        assert ran.code == 2
        assert "one of algorithm, dtype, tempering" in " ".join(ran.err.split())


def test_the_registry_imports_nothing_heavy():
    script = "import sys, semascope.models.registry; print([m for m in ('numpy', 'sklearn', 'typer') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_square_array_is_merged_along_both_axes():
    class Square(semascope.PLSA):
        saved_arrays: ClassVar = {
            **semascope.PLSA.saved_arrays,
            "together_": over_topics(numbers("n_topics", "n_topics"), layouts.SUM),
            "between_": over_topics(numbers("n_topics", "n_topics"), layouts.MEAN),
            "logs_": over_topics(numbers("n_topics"), layouts.LOGSUMEXP),
            "others_": numbers(2),
        }

    model = Square(3, random_state=0, engine=ThreadEngine(1)).fit(TEXTS)
    model.together_ = np.arange(9.0).reshape(3, 3)
    model.between_, model.logs_, model.others_ = np.eye(3), np.log([1.0, 2.0, 3.0]), np.ones(2)
    merged = model.merge_topics([0, 2])
    assert merged.together_.tolist() == [[16.0, 8.0], [8.0, 4.0]]
    weights = model.topic_shares_[[0, 2]] / model.topic_shares_[[0, 2]].sum()
    np.testing.assert_allclose(merged.between_, [[(weights**2).sum(), 0], [0, 1]])
    np.testing.assert_allclose(np.exp(merged.logs_), [4.0, 2.0])
    assert merged.others_ is model.others_
    left = model.remove_topics([1])
    assert left.together_.tolist() == [[0.0, 2.0], [6.0, 8.0]]
    assert left.logs_.tolist() == np.log([1.0, 3.0]).tolist()


def test_an_array_that_does_not_say_how_it_is_merged_is_an_error():
    class Silent(semascope.PLSA):
        saved_arrays: ClassVar = {**semascope.PLSA.saved_arrays, "between_": numbers("n_topics", "n_topics")}

    model = Silent(2, random_state=0).fit(TEXTS)
    model.between_ = np.eye(2)
    with pytest.raises(TypeError, match="between_ does not declare how to merge topics"):
        model.merge_topics([0, 1])


def test_a_model_of_no_row_is_searched_by_its_kind():
    class Own(semascope.PLSA):
        pass

    assert vectors_by(Own(2)) == "topics"
    assert registry.entry_of(Own(2)).name == "PLSA"
    assert registry.entry_of(object()) is None
    assert vectors_by(object()) is None
