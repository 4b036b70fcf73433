"""How does the cost of LDA grow with the number of tokens and of topics?

Seconds of a pass on an eighth to all of CVE with 100 topics, and on all of CVE with 50 to 1000 topics: the difference of a long
and a short fit, so that start-up cancels. Each part of CVE is a collection of its own, with the words that it has. A line is
fitted through the logarithms: its slope is 1 where the cost grows in proportion.

Takes about 15 minutes on two cores; with --quick about 5, with fewer repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data, harness
from benchmarks.harness import Iterations
from semascope import LDA, Analyzer, Corpus, ThreadEngine

THREADS = 2
SEED = 0
TOPICS = 100
SHARES = (1 / 8, 1 / 4, 1 / 2, 1)
BY_TOPICS = (50, 100, 200, 400, 1000)


def run(quick: bool) -> dict[str, Any]:
    """Measure all of it on CVE."""
    return scaling(data.texts(data.CVE)[""], by_topics=BY_TOPICS, repeats=1 if quick else 3)


def scaling(texts: list[str], *, by_topics: Sequence[int], repeats: int) -> dict[str, Any]:
    """Measure all of it on some texts."""
    with harness.cores(THREADS):
        _fit(_corpus(texts[:1000]), 2, 2)  # compiles the kernels
        tokens = _tokens(texts, repeats)
        whole = _corpus(texts)
        topics = _topics(whole, by_topics, repeats)
    of_tokens, of_topics = slope(tokens["points"]), slope(topics["points"])
    many = topics["points"][str(by_topics[-1])] / topics["points"][str(TOPICS)]
    return {
        "goals": [
            harness.goal("slope of a pass in tokens", of_tokens, at_least=0.9, at_most=1.1, others=tokens["others"]),
            harness.goal("slope of a pass in topics", of_topics, at_most=1.1, others=topics["others"]),
            harness.goal(f"a pass with {by_topics[-1]:,} topics / {TOPICS}", many, at_most=3, others=topics["others"]),
        ],
        "documents": whole.n_documents,
        "words": whole.n_words,
        "tokens": {**tokens, "slope": of_tokens},
        "topics": {**topics, "slope": of_topics},
    }


def slope(points: Mapping[str, float]) -> float:
    """Slope of a line through the logarithms: the power that cost grows with."""
    sizes, seconds = np.log([float(size) for size in points]), np.log(list(points.values()))
    return float(np.polyfit(sizes, seconds, 1)[0])


# --- measurements ----------------------------------------------------------------------------------------------------------


def _corpus(texts: list[str]) -> Corpus:
    return Corpus.from_texts(texts, analyzer=Analyzer(stop_words="english", min_df=5, max_df=0.5))


def _fit(corpus: Corpus, topics: int, passes: int) -> LDA:
    engine = ThreadEngine(THREADS)
    return LDA(topics, max_iter=passes, tol=0, random_state=SEED, engine=engine).fit(corpus)


def _tokens(texts: list[str], repeats: int) -> dict[str, Any]:
    """Seconds of a pass by number of tokens. Parts are drawn at random: CVE is in order of time."""
    order = np.random.default_rng(SEED).permutation(len(texts))
    parts = [_corpus([texts[i] for i in order[: round(share * len(texts))]]) for share in SHARES]
    works = {str(round(part.n_tokens)): partial(_fit, part, TOPICS) for part in parts}
    return _passes(works, repeats)


def _topics(corpus: Corpus, by_topics: Sequence[int], repeats: int) -> dict[str, Any]:
    """Seconds of a pass by number of topics."""
    return _passes({str(topics): partial(_fit, corpus, topics) for topics in by_topics}, repeats)


def _passes(works: Mapping[str, Any], repeats: int) -> dict[str, Any]:
    """Seconds of a pass of each."""
    competitors = {size: Iterations(fit, few=1, many=6) for size, fit in works.items()}
    found = harness.compare(competitors, warm_up=0, repeats=repeats, clock=harness.per_iteration)
    return {"points": {size: found.of[size].median for size in works}, "others": found.others, "runs": found.to_dict()}


# --- tables ------------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    for what in ("tokens", "topics"):
        found = result[what]
        rows = [
            (f"{int(size):,}", f"{1e3 * seconds:,.0f}", f"{1e6 * seconds / int(size):,.2f}")
            for size, seconds in found["points"].items()
        ]
        title = f"A pass over CVE by {what}: slope {found['slope']:.2f}, others used {found['others']:.2f} cores"
        harness.show(title, (what, "ms", f"µs / {what[:-1]}"), rows)


if __name__ == "__main__":
    harness.alone("lda_scaling", run, show)
