"""The model and the engine that the developers' pages add keep the contracts of all models and engines."""

import importlib
import pkgutil
import re
import sys

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from contracts import engine_contract
from documentation.blocks import ROOT, file_of
from helpers import random_counts
from semascope import ThreadEngine, load
from semascope.models import registry

ALGORITHMS = ("fused EM", "Gibbs sampling of labels")
"""Two that keep different things between iterations; the rest would take long."""


@pytest.fixture(scope="module")
def as_shown(tmp_path_factory):
    """Modules as the pages show them; other processes find them too."""
    folder = tmp_path_factory.mktemp("shown")
    names = {"mixture": "adding-a-model", "processes": "adding-an-engine"}
    for name, page in names.items():
        (folder / f"{name}.py").write_text(file_of(ROOT / f"docs/developer/{page}.md", f"{name}.py"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield {name: importlib.import_module(name) for name in names}
    for name in names:
        del sys.modules[name]


@pytest.fixture(scope="module")
def mixture(as_shown):
    return as_shown["mixture"]


@pytest.fixture(scope="module")
def two_processes(as_shown):
    processes = as_shown["processes"]
    yield processes.ProcessEngine(2)
    processes.pool_of(2).shutdown()


@pytest.fixture
def some_algorithms(mixture, monkeypatch):
    """The contract's algorithms: some of them, and that of the page."""
    chosen = {name: engine_contract.ALGORITHMS[name] for name in ALGORITHMS}
    chosen["a mixture of unigrams"] = lambda corpus: mixture.MixtureEM(5, **engine_contract.facts(corpus))
    monkeypatch.setattr(engine_contract, "ALGORITHMS", chosen)


@pytest.mark.usefixtures("some_algorithms")
def test_the_new_engine_keeps_the_contract_and_the_new_algorithm_has_its_bits_everywhere(two_processes, corpus_path, tmp_path):
    (tmp_path / "here").mkdir()
    here = engine_contract.keep_the_contract(ThreadEngine(1), corpus_path, tmp_path / "here")
    (tmp_path / "there").mkdir()
    assert engine_contract.keep_the_contract(two_processes, corpus_path, tmp_path / "there") == here


def test_the_new_model_passes_the_checks_of_scikit_learn(mixture):
    check_estimator(mixture.MixtureOfUnigrams(2, random_state=0), on_skip=None)


def test_the_log_posterior_of_the_new_model_never_falls(mixture):
    for seed in range(20):
        model = mixture.MixtureOfUnigrams(3, random_state=seed, tol=0, max_iter=20, dtype="float64").fit(random_counts(seed))
        assert (np.diff(model.log_posterior_) >= -1e-9 * abs(model.log_posterior_[0])).all()


def test_the_new_model_is_saved_and_loaded(mixture, tmp_path, monkeypatch):
    entry = registry.ModelEntry("MixtureOfUnigrams", "mixture", registry.TOPICS, ["topic_layout"])
    monkeypatch.setattr(registry, "ENTRIES", (*registry.ENTRIES, entry))
    model = mixture.MixtureOfUnigrams(2, random_state=0).fit(["cats purr", "dogs bark", "cats cats", "dogs"])
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert np.array_equal(loaded.transform(["cats", "dogs"]), model.transform(["cats", "dogs"]))
    assert loaded.log_posterior_ == model.log_posterior_


WALK = ROOT / "docs/developer/walk.md"
ROOMS = {
    "cli", "corpus", "engines", "explorer", "inference", "kernels", "models", "retrieval", "storage", "training", "workflow",
}  # fmt: skip
NAMES_IN_WALK = sorted(set(re.findall(r"`(semascope(?:\.\w+)+)`", WALK.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", NAMES_IN_WALK)
def test_a_name_on_the_walk_exists(name):
    assert pkgutil.resolve_name(name) is not None


def test_the_walk_passes_every_room():
    assert {name.split(".")[1] for name in NAMES_IN_WALK} >= ROOMS
