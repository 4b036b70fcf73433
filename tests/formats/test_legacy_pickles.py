"""Estimators that 0.1 dumped with joblib still load, and infer what they inferred."""

import json
from pathlib import Path

import joblib
import numpy as np
import pytest

from semascope.legacy import MODULES, NAMES

DUMPS = Path(__file__).parent / "joblib-0.1"
INFERRED = json.loads((DUMPS / "transformed.json").read_text())
NEW = ["cat dog dog bank", "bond rate rate market"]


@pytest.mark.parametrize("name", sorted(INFERRED))
def test_joblib_dumps_of_0_1_load_and_infer_the_same(name):
    model = joblib.load(DUMPS / f"{name}.joblib")
    texts = [{"en": text} for text in NEW] if name == "polylingual" else NEW
    np.testing.assert_allclose(model.transform(texts), INFERRED[name], rtol=1e-4, atol=1e-5)
    model.set_params(max_iter=3) if "max_iter" in model.get_params() else None
    assert type(model)(**model.get_params()).get_params().keys() == model.get_params().keys()


def test_every_alias_leads_somewhere():
    for old, new in MODULES.items():
        __import__(new)
        __import__(old)
    for old, new in NAMES.items():
        module, _, name = old.rpartition(".")
        assert getattr(__import__(MODULES[module], fromlist=[new]), new).__name__ == new
        assert getattr(__import__(module, fromlist=[name]), name).__name__ == new
