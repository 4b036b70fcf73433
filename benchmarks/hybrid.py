"""Does search by words and meaning together beat BM25, with one setting for all collections?

CACM, CRAN, TIME, CISI and MED, stemmed, without stop words: MAP of hybrid search with the defaults of the package, with a topic
model (LDA, 128 topics, mean over six starts) and without one, beside BM25, the space alone and the likelihood alone; the paired
randomization test against BM25 for each start. How the defaults were chosen: over a grid of dimensions and weights, for each
collection the setting that gains most on the four others, and what it gains on the one left out.

Takes about eight minutes on two cores; with --quick, two starts and a smaller grid, about two.
"""

from __future__ import annotations

from itertools import product
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.claims import Claim
from benchmarks.searching import COLLECTIONS, Searched
from semascope import LDA, Index
from semascope.evaluation.ranking import randomization_test
from semascope.retrieval.fusion import WITH_TOPICS, WITHOUT_TOPICS, Hybrid, Weights
from semascope.retrieval.lsa_space import DIMENSIONS, space_of

N_TOPICS = 128
STARTS, QUICK_STARTS = 6, 2
GRID_DIMENSIONS = (48, 64, 80, 100, 128)
GRID_SPACE = (0.5, 0.7, 1.0)
GRID_TOPICS = (0.0, 0.4, 0.7, 1.0)
TOPICS, PLAIN = "hybrid", "hybrid, no topics"


def run(quick: bool) -> dict[str, Any]:
    """Measure the defaults, and what the grid would have chosen."""
    found = {name: _collection(_searched(name), quick) for name in COLLECTIONS}
    gains = {kind: [_gain(found[name], kind) for name in COLLECTIONS] for kind in (TOPICS, PLAIN)}
    left_out = {name: _left_out(found, name) for name in COLLECTIONS}
    return {
        "goals": [
            harness.goal("hybrid, mean gain over BM25 in %", fmean(gains[TOPICS]), at_least=9),
            harness.goal("hybrid, least gain in %", min(gains[TOPICS]), at_least=0),
            harness.goal("settings chosen without the collection, mean gain in %", fmean(v["gain"] for v in left_out.values())),
            harness.goal("hybrid without topics, mean gain in %", fmean(gains[PLAIN])),
            harness.goal("hybrid without topics, least gain in %", min(gains[PLAIN])),
        ],
        "starts": QUICK_STARTS if quick else STARTS,
        "collections": {name: {k: v for k, v in one.items() if k != "grid"} for name, one in found.items()},
        "left_out": left_out,
        "grid": {name: [[*setting, value] for setting, value in one["grid"].items()] for name, one in found.items()},
    }


def _searched(name: str) -> Searched:
    """Documents are title and text; of CACM only those with an abstract."""
    return Searched.of(name, ("title", "text"), only_with_text=name == "ir/cacm")


def _collection(searched: Searched, quick: bool) -> dict[str, Any]:
    """MAP of every way to search, and of every setting of the grid."""
    starts = range(QUICK_STARTS if quick else STARTS)
    models = [LDA(N_TOPICS, random_state=seed).fit(searched.corpus) for seed in starts]
    plain = Index.build(searched.corpus)
    indexes = [Index.build(searched.corpus, model) for model in models]
    baseline = _precisions(searched, plain, "bm25")
    hybrid = [_precisions(searched, index, "hybrid") for index in indexes]
    return {
        "bm25": _mean(baseline),
        "lsa": _mean(_precisions(searched, plain, "lsa")),
        "lda": fmean(_mean(_precisions(searched, index, "lda")) for index in indexes),
        PLAIN: _mean(without := _precisions(searched, plain, "hybrid")),
        TOPICS: fmean(map(_mean, hybrid)),
        "p": median(randomization_test(one, baseline) for one in hybrid),
        "p, no topics": randomization_test(without, baseline),
        "grid": _grid(searched, indexes, quick),
    }


def _grid(searched: Searched, indexes: list[Index], quick: bool) -> dict[tuple[float, ...], float]:
    """MAP of settings: dimensions, weight of the space, weight of topics."""
    values: dict[tuple[float, ...], float] = {}
    for n_dimensions in GRID_DIMENSIONS[1::2] if quick else GRID_DIMENSIONS:
        space = space_of(searched.corpus, n_dimensions)
        mine = [Index._of(searched.corpus, space, index.topics) for index in indexes]
        for weights in (Weights(*pair) for pair in product(GRID_SPACE, GRID_TOPICS)):
            found = [_mean(_with_weights(searched, index, weights)) for index in (mine if weights.topics else mine[:1])]
            values[(n_dimensions, *weights)] = fmean(found)
    return values


def _with_weights(searched: Searched, index: Index, weights: Weights) -> Any:
    ways = index._similarities
    hybrid = Hybrid(ways["bm25"], ways["lsa"], ways["lda"] if weights.topics else None, [len(index)], weights)
    return searched.average_precisions(_scores(searched, index, hybrid))


def _precisions(searched: Searched, index: Index, by: str) -> Any:
    return searched.average_precisions(_scores(searched, index, index._similarities[by]))


def _scores(searched: Searched, index: Index, scorer: Any) -> np.ndarray:
    """Scores of all documents."""
    queries = searched.queries.rows
    scores = np.empty((len(queries.ends) - 1, len(index)), np.float32)
    scorer.fill(queries, scores, np.ones(len(index), dtype=bool))
    return scores


def _mean(precisions: Any) -> float:
    return 100 * float(np.mean(precisions))


def _gain(one: dict[str, Any], kind: Any) -> float:
    """By how many percent a way to search, or a setting of the grid, is better than BM25."""
    value = one["grid"][kind] if isinstance(kind, tuple) else one[kind]
    return 100 * (value / one["bm25"] - 1)


def _left_out(found: dict[str, Any], name: str) -> dict[str, Any]:
    """The setting with the largest mean gain on other collections, and what it gains on this one."""
    others = [one for other, one in found.items() if other != name]
    setting = max(found[name]["grid"], key=lambda setting: fmean(_gain(one, setting) for one in others))
    return {"setting": setting, "gain": _gain(found[name], setting)}


def claims(result: dict[str, Any]) -> list[Claim]:
    """Hybrid search beside BM25."""
    return [
        Claim(f"{name}, MAP, {kind}", one[kind], one["bm25"], "BM25", "%", more_is_better=True)
        for name, one in result["collections"].items()
        for kind in (TOPICS, PLAIN)
    ]


def show(result: dict[str, Any]) -> None:
    """Print MAP and settings."""
    harness.show_goals(result["goals"])
    ways = ("bm25", "lsa", "lda", PLAIN, "p, no topics", TOPICS, "p")
    rows = [
        (name, *(f"{one[way]:.4f}" if way.startswith("p") else f"{one[way]:.1f}" for way in ways))
        for name, one in result["collections"].items()
    ]
    harness.show(f"MAP in percent, mean over {result['starts']} starts; p against BM25", ("", *ways), rows)
    rows = [(name, *map(str, one["setting"]), f"{one['gain']:+.1f} %") for name, one in result["left_out"].items()]
    harness.show("Chosen without the collection", ("", "dimensions", "space", "topics", "gain on it"), rows)
    harness.console.print(f"The package has {DIMENSIONS} dimensions, {WITH_TOPICS}, and without topics {WITHOUT_TOPICS}.")


if __name__ == "__main__":
    harness.alone("hybrid", run, show)
