"""Does tempered EM predict and find better than plain EM, with β that it finds by itself?

Prediction: held-out perplexity by document completion, with the common prior of 0.1 per topic; and with the model's own, which
is none: folding in as `transform` does, and a floor. Search: documents are ranked by S_KL = Σ p(w | query) log P(w | document),
without folding in; P is floored at 1e-6. "auto" never sees a judgment: it predicts a tenth of the training words. Means over
seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import data, harness
from benchmarks.searching import Searched
from semascope import PLSA, Analyzer, Corpus, read

PREDICTED = {"ir/med": 128, "ir/cran": 128, "ir/cisi": 64, "ir/time": 64, data.NEWSGROUPS: 100}
"""Collections and topics."""
SEARCHED = {"ir/med": 128, "ir/cran": 128, "ir/cisi": 64, "ir/time": 64, "ir/cacm": 128}
FLOOR = 1e-6
KINDS = {"plain": None, "auto": "auto"}


def run(quick: bool) -> dict[str, Any]:
    """Fit plain and tempered models, and judge both."""
    seeds = range(1 if quick else 3)
    predicted = {name: _predict(name, topics, seeds) for name, topics in PREDICTED.items()}
    searched = {name: _search(name, topics, seeds) for name, topics in SEARCHED.items()}
    med = searched["ir/med"]
    return {
        "seeds": len(seeds),
        "goals": [
            harness.goal("MAP of S_KL on MED, K = 128, plain EM, percent", med["plain"]["map"], at_most=30),
            harness.goal("MAP of S_KL on MED, K = 128, tempering auto, percent", med["auto"]["map"], at_least=53),
            *(
                harness.goal(
                    f"{name}, perplexity of auto / plain EM, common prior",
                    p["auto"]["completion"] / p["plain"]["completion"],
                    at_most=1,
                )
                for name, p in predicted.items()
            ),
        ],
        "predicted": predicted,
        "searched": searched,
    }


def _predict(name: str, topics: int, seeds: Sequence[int]) -> dict[str, Any]:
    analyzer = Analyzer(stop_words="english", min_df=2 if name.startswith("ir") else 5)
    train, test = Corpus.build(read(data.folder(name) / data.FILE), analyzer).split(0.1, seed=0)
    found: dict[str, Any] = {}
    for kind, tempering in KINDS.items():
        models = [PLSA(topics, random_state=seed, tempering=tempering).fit(train) for seed in seeds]
        found[kind] = {
            "completion": mean(model.perplexity(test, prior="common") for model in models),
            "own": mean(model.perplexity(test, prior="own") for model in models),
            "beta": [model.tempering_ for model in models],
            "iterations": mean(model.n_iter_ for model in models),
        }
    return {"topics": topics, **found}


def _search(name: str, topics: int, seeds: Sequence[int]) -> dict[str, Any]:
    given = Searched.of(name)
    weights = given.queries.counts.toarray() / np.maximum(given.queries.counts.sum(axis=1), 1).reshape(-1, 1)
    found: dict[str, Any] = {}
    for kind, tempering in KINDS.items():
        models = [PLSA(topics, random_state=seed, tempering=tempering).fit(given.corpus) for seed in seeds]
        logs = (np.log(np.maximum(model.doc_topics_.astype(np.float64) @ model.components_, FLOOR)) for model in models)
        maps = [given.mean_average_precision(np.asarray(weights @ log.T)) for log in logs]
        found[kind] = {"map": mean(maps), "maps": maps, "beta": [model.tempering_ for model in models]}
    return {"topics": topics, **found}


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    rows = [
        (
            name,
            p["topics"],
            f"{p['auto']['completion'] / p['plain']['completion']:.3f}",
            *_pair(p, "completion"),
            *_pair(p, "own"),
            _betas(p),
        )
        for name, p in result["predicted"].items()
    ]
    columns = (
        "",
        "topics",
        "auto / plain, common",
        "plain, common prior",
        "auto, common prior",
        "plain, own prior",
        "auto, own prior",
        "β",
    )
    harness.show("Held-out perplexity, lower is better", columns, rows)
    rows = [
        (name, s["topics"], f"{s['plain']['map']:.1f}", f"{s['auto']['map']:.1f}", _betas(s))
        for name, s in result["searched"].items()
    ]
    harness.show(f"MAP of S_KL, percent, mean of {result['seeds']}", ("", "topics", "plain", "auto", "β"), rows)


def _pair(found: dict[str, Any], what: str) -> tuple[str, str]:
    return f"{found['plain'][what]:,.0f}", f"{found['auto'][what]:,.0f}"


def _betas(found: dict[str, Any]) -> str:
    return " ".join(f"{beta:.2f}" for beta in found["auto"]["beta"])


if __name__ == "__main__":
    harness.alone("tempering", run, show)
