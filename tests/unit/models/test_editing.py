"""Topics by name and by hand: renamed, merged and removed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import semascope as ss
from helpers import random_counts
from semascope.errors import InputError
from semascope.models.editing import Merge, apply_edits

COUNTS = random_counts(0, n_documents=40, n_words=30)


@pytest.fixture(scope="module", params=[ss.PLSA, ss.LDA, "tempered"], ids=["PLSA", "LDA", "tempered PLSA"])
def model(request):
    kind = (lambda *a, **k: ss.PLSA(*a, tempering=0.8, **k)) if request.param == "tempered" else request.param
    return kind(5, random_state=0).fit(COUNTS)


def arrays(model):
    """Everything that topics can be seen in, as bytes."""
    names = ["components_", *model.saved_arrays]
    return {name: np.ascontiguousarray(getattr(model, name)).tobytes() for name in names}


def assert_consistent(model, n_topics):
    assert len(model.topic_names_) == n_topics
    assert_allclose(model.components_.sum(axis=1), np.ones(n_topics), rtol=1e-5)
    assert_allclose(model.topic_shares_.sum(), 1)
    for rows in (model.doc_topics_, model.transform(COUNTS)):
        assert rows.shape == (40, n_topics)
        assert (rows >= 0).all()
        assert_allclose(rows.sum(axis=1), np.ones(40), rtol=1e-5)
    assert np.isfinite(model.perplexity(COUNTS))
    assert model.components_.dtype == model.doc_topics_.dtype == np.float32


# --- names ---------------------------------------------------------------------------------------------------------------


def test_topics_are_called_by_their_numbers_until_they_are_named(model):
    assert model.topic_names_ == ["topic 0", "topic 1", "topic 2", "topic 3", "topic 4"]
    named = model.rename_topics({3: "space", "topic 1": "God and faith"})
    assert named.topic_names_ == ["topic 0", "God and faith", "topic 2", "space", "topic 4"]
    assert named.rename_topics({"space": "moon", np.int64(1): None}).topic_names_[1:4] == ["topic 1", "topic 2", "moon"]
    swapped = named.rename_topics({"space": "God and faith", "God and faith": "space"})
    assert (swapped.topic_names_[1], swapped.topic_names_[3]) == ("space", "God and faith")


def test_every_change_gives_a_new_model_and_leaves_the_old_one(model):
    before = arrays(model)
    for changed in (model.rename_topics({0: "a"}), model.merge_topics([0, 1], name="b"), model.remove_topics([0])):
        assert changed is not model
        assert type(changed) is type(model)
        assert changed.get_params() == model.get_params()
        changed.set_params(max_iter=7)
    assert arrays(model) == before
    assert model.topic_names_[0] == "topic 0"
    assert model.max_iter == 100
    assert arrays(model.rename_topics({0: "a"})) == before


def test_names_are_kept_when_a_model_is_saved_and_forgotten_when_it_is_fitted_again(model, tmp_path):
    named = model.rename_topics({3: "été"})
    named.save(tmp_path / "m")
    loaded = ss.load(tmp_path / "m")
    assert loaded.topic_names_ == named.topic_names_
    assert loaded.merge_topics([3, 4]).topic_names_ == ["topic 0", "topic 1", "topic 2", "été"]
    assert loaded.fit(COUNTS).topic_names_[3] == "topic 3"


def test_columns_are_named_after_topics_that_have_names(model):
    prefix = type(model).__name__.lower()
    assert model.get_feature_names_out().tolist() == [f"{prefix}{z}" for z in range(5)]
    named = model.rename_topics({3: "space"})
    assert named.get_feature_names_out().tolist() == named.topic_names_
    pandas = named.set_output(transform="pandas").transform(COUNTS)
    assert pandas.columns.tolist() == named.topic_names_
    assert isinstance(model.transform(COUNTS), np.ndarray)


# --- merging -------------------------------------------------------------------------------------------------------------


def test_merged_topics_add_up(model):
    merged = model.merge_topics([3, 1], name="both")
    assert merged.topic_names_ == ["topic 0", "both", "topic 2", "topic 3"]
    assert_consistent(merged, 4)
    shares = model.topic_shares_[[1, 3]]
    expected = shares @ model.components_[[1, 3]].astype(float) / shares.sum()
    assert_allclose(merged.components_[1], expected, rtol=1e-5, atol=1e-12)
    for name in model.saved_arrays:
        old, new = getattr(model, name), getattr(merged, name)
        assert_allclose(new[..., 1], old[..., 1] + old[..., 3], rtol=1e-6)
        assert (new[..., [0, 2, 3]] == old[..., [0, 2, 4]]).all()
    assert (merged.components_[[0, 2, 3]] == model.components_[[0, 2, 4]]).all()


def test_a_merged_topic_predicts_words_as_its_parts_did(model):
    """Σ_z P(z) P(w | z) is the same before and after."""
    merged = model.merge_topics([0, 2, 4])
    assert_allclose(merged.topic_shares_ @ merged.components_, model.topic_shares_ @ model.components_, rtol=1e-5, atol=1e-9)


def test_a_merged_topic_has_the_first_name_there_is(model):
    named = model.rename_topics({1: "a", 3: "b"})
    assert named.merge_topics([0, 3, 1]).topic_names_ == ["b", "topic 1", "topic 2"]
    assert named.merge_topics(["b", "a"], name="b").topic_names_ == ["topic 0", "b", "topic 2", "topic 3"]
    assert named.merge_topics([2, 4]).topic_names_ == ["topic 0", "a", "topic 2", "b"]


def test_topics_that_no_document_has_can_be_merged_and_removed():
    model = ss.PLSA(3, random_state=0).fit(COUNTS)
    model.topic_shares_ = np.array([1.0, 0, 0])
    merged = model.merge_topics([1, 2])
    assert_allclose(merged.components_[1], model.components_[1:].mean(axis=0), rtol=1e-6)
    model.doc_topics_ = np.tile(np.float32([1, 0, 0]), (40, 1))
    assert model.remove_topics([0]).doc_topics_.tolist() == [[0.5, 0.5]] * 40


# --- removing ------------------------------------------------------------------------------------------------------------


def test_what_a_removed_topic_had_goes_to_the_others_in_proportion(model):
    left = model.rename_topics({4: "last"}).remove_topics([0, 2])
    assert left.topic_names_ == ["topic 0", "topic 1", "last"]
    assert_consistent(left, 3)
    assert (left.components_ == model.components_[[1, 3, 4]]).all()
    kept = model.topic_shares_[[1, 3, 4]]
    assert_allclose(left.topic_shares_, kept / kept.sum())
    rows = model.doc_topics_[:, [1, 3, 4]].astype(float)
    some = rows.sum(axis=1) > 0
    assert_allclose(left.doc_topics_[some], (rows / rows.sum(axis=1, keepdims=True))[some], rtol=1e-5)
    assert_allclose(left.doc_topics_[~some], np.tile(left.topic_shares_, ((~some).sum(), 1)), rtol=1e-5)
    if isinstance(model, ss.LDA):
        assert (left.alpha_ == model.alpha_[[1, 3, 4]]).all()


def test_one_topic_may_be_all_that_is_left(model):
    assert_consistent(model.remove_topics(range(4)), 1)
    assert_consistent(model.merge_topics(range(5)), 1)


def test_a_changed_model_is_saved_and_changed_again(model, tmp_path):
    changed = model.merge_topics([1, 3], name="both").remove_topics(["topic 0"])
    changed.save(tmp_path / "m")
    loaded = ss.load(tmp_path / "m")
    assert arrays(loaded) == arrays(changed)
    assert loaded.transform(COUNTS).tobytes() == changed.transform(COUNTS).tobytes()
    assert_consistent(loaded.remove_topics(["both"]), 2)


def test_all_at_once_goes_by_the_numbers_there_were_before(model):
    plan = model._plan(rename={3: "space", 0: "first"}, merge=[Merge([4, 3])], remove=[1])
    changed = apply_edits(model, plan)
    assert changed.topic_names_ == ["first", "topic 1", "space"]
    assert_consistent(changed, 3)
    one_by_one = model.merge_topics([4, 3]).remove_topics([1])
    assert arrays(changed) == arrays(one_by_one)


# --- what cannot be done -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: m.rename_topics({5: "x"}), "there is no topic 5; they are numbered from 0 to 4."),
        (lambda m: m.rename_topics({-1: "x"}), "there is no topic -1;"),
        (lambda m: m.rename_topics({True: "x"}), "there is no topic True;"),
        (lambda m: m.rename_topics({1.0: "x"}), "there is no topic 1.0;"),
        (lambda m: m.rename_topics({"spcae": "x"}), "there is no topic 'spcae'; there are 'topic 0', 'topic 1',"),
        (lambda m: m.rename_topics({1: "x", "topic 1": "y"}), "topic 1 is named twice."),
        (lambda m: m.rename_topics({0: "x", 1: "x"}), "two topics would be named 'x'."),
        (lambda m: m.rename_topics({0: "x"}).rename_topics({1: "x"}), "two topics would be named 'x'."),
        (lambda m: m.rename_topics({0: ""}), "a topic's name must not be empty"),
        (lambda m: m.rename_topics({0: "a\x1b[31m"}), "a single line of printable characters"),
        (lambda m: m.rename_topics({0: "\udcff"}), "a single line of printable characters"),
        (lambda m: m.rename_topics({0: 7}), "a topic's name must be a string, but was 7."),
        (lambda m: m.rename_topics({0: "topic 3"}), "'topic 3' is the default name of an unnamed topic"),
        (lambda m: m.merge_topics([1]), "to merge takes two topics at least, not 1."),
        (lambda m: m.merge_topics([]), "to merge takes two topics at least, not 0."),
        (lambda m: m.merge_topics([1, 1]), "topic 1 is named twice."),
        (lambda m: m.merge_topics([1, "topic 1"]), "topic 1 is named twice."),
        (lambda m: m.merge_topics([1, 9]), "there is no topic 9;"),
        (lambda m: m.merge_topics([1, 2], name="topic 4"), "is the default name of an unnamed topic"),
        (lambda m: m.merge_topics("topic 1"), "expected a list of topics; write ['topic 1']."),
        (lambda m: m.remove_topics(2), "expected a list of topics; write [2]."),
        (lambda m: m.remove_topics(range(5)), "to remove all topics would leave none."),
        (lambda m: m.remove_topics([0, 0]), "topic 0 is named twice."),
        (lambda m: m._plan(merge=[Merge([0, 1]), Merge([1, 2])]), "topic 1 cannot be merged or removed twice."),
        (lambda m: m._plan(merge=[Merge([0, 1])], remove=[1]), "topic 1 cannot be merged or removed twice."),
        (lambda m: m._plan(rename={1: "x"}, remove=[1]), "topic 1 cannot be renamed and removed."),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(model, change, sentence):
    before = arrays(model)
    with pytest.raises(InputError) as caught:
        change(model)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert arrays(model) == before


def test_a_model_that_is_not_fitted_has_no_topics():
    assert not hasattr(ss.LDA(2), "topic_names_")
    with pytest.raises(ValueError, match="not fitted"):
        ss.LDA(2).merge_topics([0, 1])
