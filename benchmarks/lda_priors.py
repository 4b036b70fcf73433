"""Which priors should LDA have when nobody says any?

Collections of short abstracts, news and messages, 100 topics, CVB0: held-out perplexity with α and η of several sizes, and with
each of them learned, over that with the defaults. A default is good when nothing else is clearly better on all of them. The
evaluator estimates the topics of new documents by itself, so that α is judged by the topics it leads to, not by its own use.

Takes about 20 minutes on two cores; with --quick, one seed and neither 20 Newsgroups nor CVE, about two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks import data, harness
from semascope import LDA, Analyzer, Corpus, read
from semascope.training.priors import ALPHA, ETA

SMALL = ("ir/med", "ir/cran", "ir/cisi", "ir/time")
COLLECTIONS = (*SMALL, data.REUTERS)
LARGE = (data.NEWSGROUPS, data.CVE)
TOPICS = 100
DEFAULT = {"alpha": ALPHA, "eta": ETA}
OTHERS: tuple[dict[str, Any], ...] = (
    {"alpha": 0.03},
    {"alpha": 0.3},
    {"alpha": "auto"},
    {"eta": 0.01},
    {"eta": 0.1},
    {"eta": "auto"},
    {"alpha": "auto", "eta": "auto"},
)


def run(quick: bool) -> dict[str, Any]:
    """Fit with all priors, and judge."""
    collections = COLLECTIONS if quick else (*COLLECTIONS, *LARGE)
    found = {name: _judge(name, range(1 if quick else 2)) for name in collections}
    best = min(_mean_ratio(found, number) for number in range(len(OTHERS)))
    return {
        "seeds": 1 if quick else 2,
        "goals": [harness.goal("perplexity of the best other priors / the defaults, mean of collections", best, at_least=0.98)],
        "priors": [_said(other) for other in OTHERS],
        "mean_ratios": [_mean_ratio(found, number) for number in range(len(OTHERS))],
        "found": found,
    }


def _judge(name: str, seeds: Sequence[int]) -> dict[str, Any]:
    analyzer = Analyzer(stop_words="english", min_df=2 if name in SMALL else 5, max_df=0.5)
    train, test = Corpus.build(read(data.folder(name) / data.FILE), analyzer).split(0.1, seed=0)

    def perplexity(settings: dict[str, Any]) -> float:
        models = [LDA(TOPICS, random_state=seed, **{**DEFAULT, **settings}).fit(train) for seed in seeds]
        return mean(model.perplexity(test) for model in models)

    return {"default": perplexity({}), "others": [perplexity(other) for other in OTHERS]}


def _mean_ratio(found: dict[str, Any], number: int) -> float:
    """Geometric mean over the collections of a perplexity over that of the defaults."""
    return math.exp(mean(math.log(one["others"][number] / one["default"]) for one in found.values()))


def _said(settings: dict[str, Any]) -> str:
    return ", ".join(f"{'α' if name == 'alpha' else 'η'} = {value}" for name, value in settings.items())


def show(result: dict[str, Any]) -> None:
    """Print ratios, a column for each collection."""
    harness.show_goals(result["goals"])
    names = list(result["found"])
    rows: list[list[str]] = [["defaults, perplexity", "", *(f"{result['found'][name]['default']:,.0f}" for name in names)]]
    for number, said in enumerate(result["priors"]):
        ratios = [result["found"][name]["others"][number] / result["found"][name]["default"] for name in names]
        rows.append([said, f"{result['mean_ratios'][number]:.3f}", *(f"{ratio:.3f}" for ratio in ratios)])
    title = f"perplexity over that of {_said(DEFAULT)}; {TOPICS} topics, mean of {result['seeds']}"
    harness.show(title, ("priors", "mean", *names), rows)


if __name__ == "__main__":
    harness.alone("lda_priors", run, show)
