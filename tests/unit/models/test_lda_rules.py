"""How the benchmark of priors chooses a rule α(K): the collection that it is reported on has no say."""

import pytest
from benchmarks.lda_priors import DEFAULT, RULES, chosen_rule, leave_one_out, mean_over_left_out


def of_rules(**best):
    """Perplexities of one collection: 100 by every rule, but for those that are named."""
    named = {name.replace("_", "/"): value for name, value in best.items()}
    return {rule: {"own": named.get(rule, 100.0), "common": 1.0} for rule in (DEFAULT, *RULES)}


TWO_FAVORITES = {"a": of_rules(**{"0.01": 90.0}), "b": of_rules(**{"0.01": 90.0}), "c": of_rules(**{"5_K": 10.0})}


def test_the_collection_left_out_has_no_say_in_the_rule():
    found = leave_one_out({"100": TWO_FAVORITES})
    assert found["c"] == {"rule": "0.01", "to_default": {"100": 1.0}, "to_best": {"100": 10.0}}
    assert found["a"]["rule"] == found["b"]["rule"] == "5/K"


def test_a_rule_is_chosen_over_all_numbers_of_topics():
    few, many = {"a": of_rules(**{"0.1": 99.0})}, {"a": of_rules(**{"5_K": 50.0})}
    assert chosen_rule({"100": few}, ["a"]) == "0.1"
    assert chosen_rule({"100": few, "1000": many}, ["a"]) == "5/K"


def test_a_collection_too_small_for_so_many_topics_is_left_out_at_them():
    found = leave_one_out({"100": TWO_FAVORITES, "1000": {name: TWO_FAVORITES[name] for name in "ab"}})
    assert [*found["c"]["to_default"]] == ["100"]
    assert mean_over_left_out(found) == pytest.approx({"100": 1.0, "1000": 1.0})


def test_one_collection_chooses_nothing():
    assert leave_one_out({"100": {"a": of_rules()}}) == {}
