"""Does LDA predict better with learned priors than with the defaults?

CVB0 with 100 topics on news, messages, descriptions and abstracts: at most 20,000 documents of each (random samples of Reuters,
CVE and Debian's English descriptions), a tenth held out, three seeds. Held-out perplexity, by document completion, is computed
by the model's own prior, which judges α by its use as well, and by the common one of 0.1 per topic. Ratios are to the defaults,
α = 0.1 and η = 0.03, with the same seed.

Takes about 30 minutes on two cores. With --quick CISI and Reuters, one seed: about two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from benchmarks import data, harness
from benchmarks.lda_priors import PRIORS, Collection
from semascope import LDA

QUICK = ("ir/cisi", data.REUTERS)
COLLECTIONS = (*QUICK, data.NEWSGROUPS, data.CVE, data.DEBIAN)
TOPICS = 100
DEFAULT, ALPHA = "default", "α auto"
SETTINGS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    ALPHA: {"alpha": "auto"},
    "α, η auto": {"alpha": "auto", "eta": "auto"},
    "η auto": {"eta": "auto"},
}


def run(quick: bool) -> dict[str, Any]:
    """Fit with fixed and with learned priors."""
    seeds = range(1 if quick else 3)
    found = {name: compare(name, seeds) for name in (QUICK if quick else COLLECTIONS)}
    return {
        "goals": [
            harness.goal(f"{name}, own prior: {ALPHA} / default", mean(ratios(one, ALPHA, "own")), at_most=1.0)
            for name, one in found.items()
        ],
        "seeds": len(seeds),
        "collections": found,
    }


def compare(name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Judge models of a collection, with each of the settings and seeds."""
    collection = Collection(name, seeds)
    runs: dict[str, list[dict[str, float]]] = {setting: [] for setting in SETTINGS}
    for seed in seeds:
        for setting in SETTINGS:
            runs[setting].append(judge(collection, setting, seed))
            harness.console.print(f"{name}, seed {seed}, {setting}: {runs[setting][-1]}")
    return {**collection.facts(), "runs": runs}


def judge(collection: Collection, setting: str, seed: int) -> dict[str, float]:
    """Return the held-out perplexity of a model by both priors, and what it has learned."""
    train, test = collection.split
    model = LDA(TOPICS, random_state=seed, **SETTINGS[setting]).fit(train)
    perplexities = {prior: model.perplexity(test, prior=prior) for prior in PRIORS}
    return {**perplexities, "alpha_sum": float(model.alpha_.sum()), "eta": float(model.eta_)}


def ratios(one: Mapping[str, Any], setting: str, prior: str) -> list[float]:
    """Return perplexities over those of the default with the same seed."""
    return [a[prior] / b[prior] for a, b in zip(one["runs"][setting], one["runs"][DEFAULT], strict=True)]


def show(result: Mapping[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    found = result["collections"]
    for prior in PRIORS:
        rows = [[DEFAULT, "", *(f"{mean(run[prior] for run in one['runs'][DEFAULT]):,.1f}" for one in found.values())]]
        for setting in [name for name in SETTINGS if name != DEFAULT]:
            cells = [ratios(one, setting, prior) for one in found.values()]
            over_all = math.exp(mean(math.log(mean(cell)) for cell in cells))
            rows.append([setting, f"{over_all:.4f}", *map(_with_range, cells)])
        title = (
            f"perplexity by {prior} prior, and ratios to the default; {TOPICS} topics, {result['seeds']} seeds: mean (range)"
        )
        harness.show(title, ("priors", "mean", *found), rows)
    rows = [[setting, *(_learned(one["runs"][setting]) for one in found.values())] for setting in SETTINGS]
    harness.show("Σα and η, mean over seeds", ("priors", *found), rows)


def _with_range(values: Sequence[float]) -> str:
    return f"{mean(values):.4f}" + (f" ({min(values):.4f}–{max(values):.4f})" if len(values) > 1 else "")


def _learned(runs: Sequence[Mapping[str, float]]) -> str:
    return f"{mean(run['alpha_sum'] for run in runs):.2f}, {mean(run['eta'] for run in runs):.3f}"


if __name__ == "__main__":
    harness.alone("auto_priors", run, show)
