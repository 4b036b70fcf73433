"""Settings that are more than numbers are kept with a model."""

import numpy as np

import semascope as ss
from semascope.models.layouts import KIND
from semascope.storage import open_directory

TEXTS = ["cats purr and dogs bark", "dogs bark at cats", "bonds fall when stocks rise", "stocks rise and bonds fall"]
PRIOR = ss.InformedPrior({"pets": ["cat*", "dogs"], "money": ["bonds"]}, strength=5, strengths={"money": 7})


def saved(model, path):
    model.save(path)
    return ss.load(path)


def test_an_informed_prior_is_kept_with_its_model(tmp_path):
    model = ss.LDA(2, random_state=0).fit(TEXTS).set_params(eta=PRIOR)
    loaded = saved(model, tmp_path / "m")
    assert loaded.eta == PRIOR
    assert loaded.get_params() == model.get_params()
    assert saved(loaded, tmp_path / "again").eta == PRIOR


def test_an_array_is_kept_in_a_file(tmp_path):
    model = ss.LDA(2, random_state=0).fit(TEXTS)
    for eta in (np.arange(1.0, 13).reshape(2, 6), [0.5, 1, 2]):
        loaded = saved(model.set_params(eta=eta), tmp_path / "m")
        np.testing.assert_array_equal(loaded.eta, eta)
    assert "setting_eta.npy" in open_directory(tmp_path / "m", KIND)
    assert saved(loaded.set_params(eta=0.1), tmp_path / "m").eta == 0.1


def test_what_is_no_part_of_a_model_is_not_kept(tmp_path):
    model = ss.PLSA(2, random_state=np.random.RandomState(0), engine=ss.ThreadEngine(1), tol=np.float64(1e-3)).fit(TEXTS)
    loaded = saved(model, tmp_path / "m")
    assert loaded.engine is None
    assert loaded.random_state is None
    assert loaded.tol == 1e-3
