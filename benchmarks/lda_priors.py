"""Which priors should LDA have by default?

Seven collections of abstracts, news, messages and descriptions, at most 20,000 documents of each (random samples of CVE, of
Debian's English descriptions and of Reuters), a tenth held out; CVB0. Held-out perplexity is computed twice: by the model's own
prior, which judges α by its use as well, and by the common one of 0.1 per topic, which judges α only by the topics it leads to.

First, 100 topics: α and η of several sizes, and learned, over the defaults. Second, rules α(K) for 100, 300 and 1000 topics, by
the own prior. A rule is chosen on all collections but one, by the mean over them and over all K of log perplexity, and reported
on the one left out: so no collection has a say in the rule that it judges. A collection with fewer documents than topics is
left out at that K.

The full form takes hours on two cores. With --quick one seed, 100 topics, and MED, CRAN, CISI and Reuters: about a minute.
`python -m benchmarks.lda_priors --topics 300 1000` runs other numbers of topics.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import data, harness
from semascope import LDA, Analyzer, Corpus

SMALL = ("ir/med", "ir/cran", "ir/cisi")
QUICK = (*SMALL, data.REUTERS)
COLLECTIONS = (*QUICK, data.NEWSGROUPS, data.CVE, data.DEBIAN)
MAX_DOCUMENTS = 20_000
TOPICS = (100, 300, 1000)
OTHERS: tuple[dict[str, Any], ...] = (
    {"alpha": 0.03},
    {"alpha": 0.3},
    {"alpha": "auto"},
    {"eta": 0.01},
    {"eta": 0.1},
    {"eta": "auto"},
    {"alpha": "auto", "eta": "auto"},
)
"""Compared with the defaults at the smallest number of topics."""
RULES: dict[str, Callable[[int], float]] = {
    "0.01": lambda k: 0.01,
    "0.03": lambda k: 0.03,
    "0.1": lambda k: 0.1,
    "1/K": lambda k: 1 / k,
    "5/K": lambda k: 5 / k,
    "10/K": lambda k: 10 / k,
    "20/K": lambda k: 20 / k,
    "50/K": lambda k: 50 / k,
}
"""Rules α(K) to choose from."""
DEFAULT = "default"
PRIORS = ("own", "common")

Rules = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
"""Perplexities by number of topics, collection, rule and prior. Numbers are written out, as in JSON."""


def run(quick: bool) -> dict[str, Any]:
    """Fit with all priors, and compare."""
    return run_with(quick, TOPICS[:1] if quick else TOPICS)


def run_with(quick: bool, topics: Sequence[int]) -> dict[str, Any]:
    """Do so with these numbers of topics."""
    names = QUICK if quick else COLLECTIONS
    collections = {name: Collection(name, range(1 if quick else 2)) for name in names}
    few = min(topics)
    found = {
        name: {"default": one.perplexities(few, {}), "others": [one.perplexities(few, other) for other in OTHERS]}
        for name, one in collections.items()
        if one.allows(few)
    }
    rules = {str(k): {name: one.by_rule(k) for name, one in collections.items() if one.allows(k)} for k in topics}
    ratios = {prior: [mean_ratio(found, number, prior) for number in range(len(OTHERS))] for prior in PRIORS}
    left_out = leave_one_out(rules)
    return {
        "seeds": 1 if quick else 2,
        "topics": few,
        "goals": [
            harness.goal(f"K = {few}, own prior: best other priors / the defaults", min(ratios["own"]), at_least=0.98),
            *(
                harness.goal(f"K = {k}, own prior: rule chosen on other collections / the default", ratio, at_least=0.98)
                for k, ratio in mean_over_left_out(left_out).items()
            ),
        ],
        "priors": [_name(other) for other in OTHERS],
        "mean_ratios": ratios,
        "found": found,
        "documents": {name: one.facts() for name, one in collections.items()},
        "rules": rules,
        "left_out": left_out,
    }


class Collection:
    """A collection with a tenth held out, and the perplexities of models that were fitted to the rest."""

    def __init__(self, name: str, seeds: Sequence[int]) -> None:
        self.name, self.seeds = name, seeds
        self._known: dict[tuple[Any, ...], dict[str, float]] = {}

    @cached_property
    def split(self) -> tuple[Corpus, Corpus]:
        """Documents to learn from, and documents held out."""
        by_language = data.texts(self.name)
        texts = by_language.get("en") or by_language[""]
        if len(texts) > MAX_DOCUMENTS:
            chosen = np.random.default_rng(0).choice(len(texts), MAX_DOCUMENTS, replace=False)
            texts = [texts[number] for number in sorted(chosen)]
        analyzer = Analyzer(stop_words="english", min_df=2 if self.name in SMALL else 5, max_df=0.5)
        return Corpus.from_texts(texts, analyzer=analyzer).split(0.1, seed=0)

    def facts(self) -> dict[str, int]:
        train, test = self.split
        return {"train": train.n_documents, "test": test.n_documents, "words": train.n_words}

    def allows(self, n_topics: int) -> bool:
        """Whether there are enough documents for so many topics."""
        return n_topics <= min(self.split[0].n_documents, self.split[0].n_words)

    def perplexities(self, n_topics: int, settings: Mapping[str, Any]) -> dict[str, float]:
        """Mean held-out perplexity over the seeds, by both priors."""
        train, test = self.split
        params = LDA(n_topics, **settings).get_params()
        key = n_topics, params["alpha"], params["eta"]
        if key not in self._known:
            models = [LDA(n_topics, random_state=seed, **settings).fit(train) for seed in self.seeds]
            self._known[key] = {prior: mean(model.perplexity(test, prior=prior) for model in models) for prior in PRIORS}
            harness.console.print(f"{self.name}, K = {n_topics}, {_name(settings)}: {self._known[key]['own']:,.0f}")
        return self._known[key]

    def by_rule(self, n_topics: int) -> dict[str, dict[str, float]]:
        """Perplexities of the default α and of each rule."""
        settings = {DEFAULT: {}, **{name: {"alpha": rule(n_topics)} for name, rule in RULES.items()}}
        return {name: self.perplexities(n_topics, one) for name, one in settings.items()}


# --- which rule -------------------------------------------------------------------------------------------------------------


def leave_one_out(rules: Rules) -> dict[str, dict[str, Any]]:
    """Choose a rule on the other collections, and compare it on the one left out with the default and with the best there."""
    names = {name: None for of_collections in rules.values() for name in of_collections}
    found = {}
    for left_out in names if len(names) > 1 else ():
        rule = chosen_rule(rules, [name for name in names if name != left_out])
        here = {k: of_collections[left_out] for k, of_collections in rules.items() if left_out in of_collections}
        found[left_out] = {
            "rule": rule,
            "to_default": {k: of_rules[rule]["own"] / of_rules[DEFAULT]["own"] for k, of_rules in here.items()},
            "to_best": {k: of_rules[rule]["own"] / min(of_rules[r]["own"] for r in RULES) for k, of_rules in here.items()},
        }
    return found


def chosen_rule(rules: Rules, names: Sequence[str]) -> str:
    """Return the rule with the least mean log perplexity, by the own prior, over these collections and all K."""

    def mean_log(rule: str) -> float:
        cells = [one[name][rule]["own"] for one in rules.values() for name in names if name in one]
        return mean(map(math.log, cells))

    return min(RULES, key=mean_log)


def mean_over_left_out(left_out: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Geometric mean over the collections left out of the chosen rule's perplexity over the default's, by K."""
    numbers = {k: None for one in left_out.values() for k in one["to_default"]}
    return {k: _geometric_mean([one["to_default"][k] for one in left_out.values() if k in one["to_default"]]) for k in numbers}


def mean_ratio(found: Mapping[str, Any], number: int, prior: str) -> float:
    """Geometric mean over the collections of a perplexity over that of the defaults."""
    return _geometric_mean([one["others"][number][prior] / one["default"][prior] for one in found.values()])


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(mean(map(math.log, values)))


def _name(settings: Mapping[str, Any]) -> str:
    parts = [f"{'α' if name == 'alpha' else 'η'} = {_number(value)}" for name, value in settings.items()]
    return ", ".join(parts) or DEFAULT


def _number(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


# --- tables -----------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print ratios, a column for each collection, and the rules."""
    harness.show_goals(result["goals"])
    _show_priors(result)
    for k, found in result["rules"].items():
        rows = []
        for rule in (DEFAULT, *RULES):
            cells = (f"{one[rule]['own']:,.0f} / {one[rule]['common']:,.0f}" for one in found.values())
            rows.append([rule, "" if rule == DEFAULT else _number(RULES[rule](int(k))), *cells])
        harness.show(f"K = {k}: perplexity by own / common prior", ("rule", "α", *found), rows)
    numbers = list(result["rules"])
    rows = [
        [
            name,
            one["rule"],
            *(f"{one['to_default'][k]:.3f} / {one['to_best'][k]:.3f}" if k in one["to_default"] else "–" for k in numbers),
        ]
        for name, one in result["left_out"].items()
    ]
    title = "Rule chosen on the other collections: own perplexity on the one left out / default, / best rule there"
    harness.show(title, ("left out", "rule", *(f"K = {k}" for k in numbers)), rows)


def _show_priors(result: dict[str, Any]) -> None:
    found, ratios = result["found"], result["mean_ratios"]
    base = [f"{one['default']['own']:,.0f} / {one['default']['common']:,.0f}" for one in found.values()]
    rows: list[list[str]] = [["defaults, perplexity", "", "", *base]]
    for number, name in enumerate(result["priors"]):
        cells = []
        for one in found.values():
            own, common = (one["others"][number][prior] / one["default"][prior] for prior in PRIORS)
            cells.append(f"{own:.3f} / {common:.3f}")
        rows.append([name, *(f"{ratios[prior][number]:.3f}" for prior in PRIORS), *cells])
    title = f"perplexity by own / common prior over that of the defaults; {result['topics']} topics, mean of {result['seeds']}"
    harness.show(title, ("priors", "mean, own", "mean, common", *found), rows)


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lda_priors")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, smaller collections")
    parser.add_argument("--topics", type=int, nargs="+", help="numbers of topics; 100 300 1000 by default, 100 with --quick")
    arguments = parser.parse_args()
    to_run = partial(run_with, topics=arguments.topics) if arguments.topics else run
    harness.run_and_show("lda_priors", to_run, show, arguments.quick)


if __name__ == "__main__":
    _main()
