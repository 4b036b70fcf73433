"""What is Hellinger LSA good for, beside classic LSA and topic models?

Distances: on five collections, against the rank, the Hellinger distance of what is estimated from what was observed; the
Frobenius distance of the decomposition, which the paper's inequality (19) takes for a bound; and the bound that holds,
√(2 (1 − s)). Search: MAP by the cosine of projected queries and documents, stemmed, without stop words. Clusters: k-means of
documents' vectors of length one, against the labels of 20 Newsgroups, by NMI. Prediction: held-out perplexity by document
completion, the same halves and words for all, against PLSA and LDA with as many topics as there are dimensions, these with the
common prior of 0.1 per topic.

Takes about 15 minutes on two cores; with --quick, fewer ranks and without 20 Newsgroups, about three.
"""

from __future__ import annotations

from statistics import mean
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from benchmarks import data, harness
from benchmarks.searching import Searched
from semascope import LDA, LSA, PLSA, Analyzer, Corpus, ThreadEngine, read
from semascope.evaluation.heldout import perplexity
from semascope.training.weighting import WEIGHTINGS

COLLECTIONS = ("ir/med", "ir/cran", "ir/cisi", "ir/time", "ir/cacm")
RANKS = (1, 2, 5, 10, 20, 50, 100, 200, 300)
SEARCHED = ("ir/med", "ir/cran", "ir/cisi")
SEARCH_RANKS = (50, 100, 200, 300)
CLUSTER_RANKS = (20, 50, 100, 200)
PREDICTED = ("ir/med", "ir/cran", "ir/cisi", data.NEWSGROUPS)
PREDICT_RANKS = (10, 20, 50, 100)
SMOOTHINGS = (0.05, 0.1, 0.2, 0.4, 0.6)


def run(quick: bool) -> dict[str, Any]:
    """Measure all four."""
    ranks = RANKS[::2] if quick else RANKS
    distances = {name: [_distances(_corpus(name), rank) for rank in ranks] for name in COLLECTIONS}
    kept = all(row["hellinger"] <= row["bound"] <= 2**0.5 * row["frobenius"] for rows in distances.values() for row in rows)
    return {
        "goals": [harness.goal("Hellinger ≤ bound ≤ √2 Frobenius everywhere (1 is yes)", float(kept), at_least=1)],
        "distances": distances,
        "searched": {name: _searched(name, SEARCH_RANKS[1:2] if quick else SEARCH_RANKS) for name in SEARCHED},
        "clusters": {} if quick else _clusters(),
        "predicted": {name: _predicted(name, quick) for name in (PREDICTED[:-1] if quick else PREDICTED)},
    }


def _corpus(name: str) -> Corpus:
    analyzer = Analyzer(stop_words="english", min_df=5 if name == data.NEWSGROUPS else 2, max_df=0.5)
    return Corpus.build(read(data.folder(name) / data.FILE), analyzer)


def _distances(corpus: Corpus, rank: int) -> dict[str, float]:
    model = LSA(rank, random_state=0).fit(corpus)
    return {
        "rank": rank,
        "hellinger": model.hellinger_distance_,
        "frobenius": model.frobenius_distance_,
        "bound": model.bound_,
        "clipped": model.clipped_mass_,
    }


def _searched(name: str, ranks: tuple[int, ...]) -> dict[str, list[float]]:
    """MAP of each weighting with each rank."""
    given, found = Searched.of(name), {}
    for weighting in WEIGHTINGS:
        models = [LSA(rank, weighting=weighting, random_state=0).fit(given.corpus) for rank in ranks]
        scores = [normalize(model.transform(given.queries)) @ normalize(model.doc_vectors_).T for model in models]
        found[weighting] = [given.mean_average_precision(one) for one in scores]
    return {"ranks": list(ranks), **found}


def _clusters() -> dict[str, Any]:
    """NMI of each weighting with each rank, mean of three seeds."""
    corpus, found = _corpus(data.NEWSGROUPS), {}
    labels = [names[0] for names in corpus.documents["labels"].to_list()]
    for weighting in WEIGHTINGS:
        found[weighting] = []
        for rank in CLUSTER_RANKS:
            vectors = normalize(LSA(rank, weighting=weighting, random_state=0).fit(corpus).doc_vectors_)
            groups = [KMeans(20, n_init=3, random_state=seed).fit_predict(vectors) for seed in range(3)]
            found[weighting].append(mean(normalized_mutual_info_score(labels, group) for group in groups))
    return {"ranks": list(CLUSTER_RANKS), **found}


def _predicted(name: str, quick: bool) -> list[dict[str, Any]]:
    """Perplexity of the three models with each number of dimensions."""
    train, test = _corpus(name).split(0.1, seed=0)
    rows = []
    for rank in PREDICT_RANKS[1:2] if quick else PREDICT_RANKS:
        lsa = LSA(rank, random_state=0).fit(train)
        known = np.asarray(lsa.word_shares_ > 0)
        others = {"PLSA": PLSA(rank, random_state=0, tempering="auto").fit(train), "LDA": LDA(rank, random_state=0).fit(train)}
        judged = {
            of: perplexity(model.components_.T, test.shards(), ThreadEngine(), known=known) for of, model in others.items()
        }
        smoothed = {str(smoothing): lsa.perplexity(test, smoothing=smoothing) for smoothing in SMOOTHINGS}
        rows.append({"rank": rank, **judged, "LSA": smoothed})
    return rows


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    rows = []
    for name, of_ranks in result["distances"].items():
        for row in of_ranks:
            fails = "false" if row["hellinger"] > row["frobenius"] else "holds"
            numbers = (f"{row[what]:.4f}" for what in ("hellinger", "frobenius", "bound", "clipped"))
            rows.append((name, f"{row['rank']}", *numbers, fails))
    harness.show("Distances", ("", "rank", "Hellinger", "Frobenius", "√(2 (1 − s))", "clipped", "(19)"), rows)
    tables = {f"MAP on {name}, percent": found for name, found in result["searched"].items()}
    tables |= {"NMI on 20 Newsgroups": result["clusters"]} if result["clusters"] else {}
    for title, found in tables.items():
        form = "{:.3f}" if title.startswith("NMI") else "{:.1f}"
        rows = [(name, *(form.format(value) for value in found[name])) for name in WEIGHTINGS]
        harness.show(title, ("weighting", *map(str, found["ranks"])), rows)
    for name, found in result["predicted"].items():
        rows = [
            (str(row["rank"]), f"{row['PLSA']:,.0f}", f"{row['LDA']:,.0f}", *(f"{value:,.0f}" for value in row["LSA"].values()))
            for row in found
        ]
        columns = ("dimensions", "PLSA, tempered", "LDA", *(f"LSA, ε = {smoothing}" for smoothing in SMOOTHINGS))
        harness.show(f"Held-out perplexity on {name}", columns, rows)


if __name__ == "__main__":
    harness.alone("lsa_quality", run, show)
