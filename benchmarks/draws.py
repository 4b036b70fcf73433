"""What do sampled assignments cost, and have the chains burned in when the first draw is taken?

20 Newsgroups, 100 topics, two threads. Cost: 20 draws of all documents, with `transform` where the chains start, beside a fit
of the same documents with fixed priors, and beside one with alpha="auto", which samples too; in turns. Neither reading nor
compiling counts.

Burn-in: in how many topics a document's tokens lie. Their number in a draw is compared with that of long chains: draws
after 100 to 127 sweeps; one model, mean over seeds of the draws. Chains start from mean mixtures.

Takes about 2 minutes on two cores. With --quick, Reuters instead, one repeat and one seed: about one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import data, harness
from semascope import LDA, Analyzer, Corpus, ThreadEngine
from semascope.inference.draws import BURN_IN, THIN

TOPICS = 100
THREADS = 2
SEED = 0
DRAWS = 20
LONG = range(BURN_IN + 48 * THIN, BURN_IN + 62 * THIN, THIN)
"""Sweeps after which chains are long."""
EARLY = 5
"""Draws to compare with them."""
COST, BURNED_IN = 1.0, 0.01
"""Goals: draws over a fit, and the relative difference of the first draw from long chains."""


def run(quick: bool) -> dict[str, Any]:
    """Measure both."""
    texts = data.texts(data.REUTERS if quick else data.NEWSGROUPS)[""]
    corpus = Corpus.from_texts(texts, analyzer=Analyzer(stop_words="english", min_df=5, max_df=0.5))
    return measure(corpus, repeats=1 if quick else 3, n_seeds=1 if quick else 3)


def measure(corpus: Corpus, *, repeats: int, n_seeds: int) -> dict[str, Any]:
    """Measure both on some documents."""
    with harness.cores(THREADS):
        for settings in ({}, {"alpha": "auto"}):  # compiles the kernels
            small = LDA(2, max_iter=2, random_state=SEED, **settings).fit(corpus.filter(range(500)))
        deque(small.sample_assignments(corpus.filter(range(500)), 2), maxlen=0)
        model = _model().fit(corpus)
        found = harness.compare(
            {
                "draws": lambda: deque(model.sample_assignments(corpus, DRAWS), maxlen=0),
                "fit": lambda: _model().fit(corpus),
                "fit, alpha auto": lambda: _model(alpha="auto").fit(corpus),
            },
            warm_up=0,
            repeats=repeats,
        )
        topics = mean_over([topics_by_sweep(model, corpus, seed) for seed in range(n_seeds)])
    long = mean(topics[sweep] for sweep in LONG)
    early = {sweep: topics[sweep] / long - 1 for sweep in sorted(topics)[:EARLY]}
    what = {"seconds": found.ratio, "processor time": found.cpu_ratio}
    return {
        "goals": [
            harness.goal(f"{DRAWS} draws / a fit, seconds", found.ratio("draws", "fit"), at_most=COST, others=found.others),
            harness.goal(f"{DRAWS} draws / a fit, processor time", found.cpu_ratio("draws", "fit"), at_most=COST),
            harness.goal(
                "topics of the first draw / long chains", 1 + early[BURN_IN], at_least=1 - BURNED_IN, at_most=1 + BURNED_IN
            ),
        ],
        "documents": corpus.n_documents,
        "tokens": int(corpus.n_tokens),
        "repeats": repeats,
        "seeds": n_seeds,
        "ratios": {name: {kind: ratio(name, "fit") for kind, ratio in what.items()} for name in found.of},
        "seconds": found.to_dict(),
        "topics_a_document": {str(sweep): n / corpus.n_documents for sweep, n in topics.items()},
        "early": {str(sweep): difference for sweep, difference in early.items()},
        "long": long / corpus.n_documents,
    }


def _model(**settings: Any) -> LDA:
    return LDA(TOPICS, random_state=SEED, engine=ThreadEngine(THREADS), **settings)


def topics_by_sweep(model: LDA, corpus: Corpus, seed: int) -> dict[int, int]:
    """Count pairs of a document and a topic that some token of it has, after each sweep with a draw."""
    found: dict[int, int] = {}
    n_draws = (LONG[-1] - BURN_IN) // THIN + 1
    for draw in model.sample_assignments(corpus, n_draws, seed=seed):
        documents = np.repeat(np.arange(len(draw.ends) - 1), np.diff(draw.ends))
        sweep = BURN_IN + THIN * draw.draw
        found[sweep] = found.get(sweep, 0) + len(np.unique(documents * TOPICS + draw.topics))
    return found


def mean_over(counts: list[dict[int, int]]) -> dict[int, float]:
    """Return the mean over seeds after each sweep."""
    return {sweep: mean(one[sweep] for one in counts) for sweep in counts[0]}


def show(result: Mapping[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    title = (
        f"{result['documents']:,} documents, {result['tokens']:,} tokens, {TOPICS} topics, {THREADS} threads, "
        f"median of {result['repeats']}; others used {result['seconds']['others']:.1f} cores"
    )
    rows = []
    for name, of in result["ratios"].items():
        seconds = result["seconds"][name]
        rows.append((name, f"{seconds['median']:.1f}", f"{seconds['cpu_median']:.1f}", *(f"{one:.2f}" for one in of.values())))
    harness.show(title, ("what", "s", "processor s", "/ fit, s", "/ fit, processor s"), rows)
    rows = [
        (f"{sweep} sweeps", f"{result['topics_a_document'][sweep]:.3f}", f"{100 * off:+.2f} %")
        for sweep, off in result["early"].items()
    ]
    rows.append((f"{LONG[0]} to {LONG[-1]} sweeps", f"{result['long']:.3f}", ""))
    harness.show(f"Topics that a document's tokens lie in, mean of {result['seeds']}", ("after", "topics", "off"), rows)


if __name__ == "__main__":
    harness.alone("draws", run, show)
