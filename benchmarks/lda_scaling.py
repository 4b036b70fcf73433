"""How does the cost of LDA grow with the number of tokens and of topics?

By tokens: seconds of a pass on an eighth to all of CVE with 100 topics, the difference of a long and a short fit, so that
start-up cancels. Each part of CVE is a collection of its own, with the words that it has. By topics: seconds of 40 passes over
all of CVE but a tenth of its documents, with 50 to 1000 topics; where most passes go over few topics of each document, also
those of passes over all, and the perplexity of the held-out tenth by both, with the common prior of 0.1 per topic. A line is
fitted through the logarithms: its slope is 1 where the cost grows in proportion.

Takes about 30 minutes on two cores; with --quick about 10, with fewer repeats.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import data, harness
from benchmarks.harness import Iterations
from semascope import Analyzer, Corpus, ThreadEngine
from semascope.evaluation.heldout import perplexity
from semascope.model_selection import hold_out
from semascope.training.cvb0 import CVB0, FEW_FROM
from semascope.training.loop import run as training
from semascope.training.stopping import StopRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

THREADS = 2
SEED = 0
TOPICS = 100
PASSES = 40
SHARES = (1 / 8, 1 / 4, 1 / 2, 1)
BY_TOPICS = (50, 100, 200, 400, 1000)
OVER_ALL = sys.maxsize
"""Topics from which on passes go over few of them, where none is to."""


def run(quick: bool) -> dict[str, Any]:
    """Measure all of it on CVE."""
    return scaling(data.texts(data.CVE)[""], by_topics=BY_TOPICS, repeats=1 if quick else 3)


def scaling(texts: list[str], *, by_topics: Sequence[int], repeats: int) -> dict[str, Any]:
    """Measure all of it on some texts."""
    with harness.cores(THREADS):
        _fit(_corpus(texts[:1000]), 2, 2)  # compiles the kernels
        tokens = _tokens(texts, repeats)
        topics = _topics(_corpus(texts), by_topics, repeats)
    of_tokens, of_topics = slope(tokens["points"]), slope(topics["points"])
    most, others = str(by_topics[-1]), topics["others"]
    many = topics["points"][most] / topics["points"][str(TOPICS)]
    few, dense = (topics["perplexity"][way] for way in ("few", "all"))
    return {
        "goals": [
            harness.goal("slope of a pass in tokens", of_tokens, at_least=0.9, at_most=1.1, others=tokens["others"]),
            harness.goal("slope of a fit in topics", of_topics, at_most=1.1, others=others),
            harness.goal(f"{PASSES} passes with {most} topics / {TOPICS}", many, at_most=3, others=others),
            harness.goal(f"perplexity with {most} topics, few / all", few / dense, at_most=1.01),
        ],
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


def _fit(corpus: Corpus, topics: int, passes: int, few_from: int | None = None) -> NDArray[Any]:
    """P(word | topic) by default settings."""
    facts = (topics, corpus.n_documents, corpus.n_words, corpus.n_tokens, SEED)
    algorithm = CVB0(*facts, few_from=few_from)
    return training(algorithm, corpus.shards(), ThreadEngine(THREADS), stop=StopRule(passes, 0.0)).state.topics


def _tokens(texts: list[str], repeats: int) -> dict[str, Any]:
    """Seconds of a pass by number of tokens. Parts are drawn at random: CVE is in order of time."""
    order = np.random.default_rng(SEED).permutation(len(texts))
    parts = [_corpus([texts[i] for i in order[: round(share * len(texts))]]) for share in SHARES]
    competitors = {str(round(part.n_tokens)): Iterations(partial(_fit, part, TOPICS), few=1, many=6) for part in parts}
    found = harness.compare(competitors, warm_up=0, repeats=repeats, clock=harness.per_iteration)
    return {"points": {size: found.of[size].median for size in competitors}, "others": found.others, "runs": found.to_dict()}


def _topics(corpus: Corpus, by_topics: Sequence[int], repeats: int) -> dict[str, Any]:
    """Seconds of a fit by number of topics, and the perplexity of held-out documents by the largest."""
    split = hold_out(corpus, 0.1, SEED)
    topics: dict[str, NDArray[Any]] = {}

    def fit(name: str, n_topics: int, few_from: int | None) -> None:
        topics[name] = _fit(split.train, n_topics, PASSES, few_from)

    works = {str(n): partial(fit, str(n), n, None) for n in by_topics}
    over_all = {f"{n}, all": partial(fit, f"{n}, all", n, OVER_ALL) for n in by_topics if n >= FEW_FROM}
    found = harness.compare({**works, **over_all}, warm_up=0, repeats=repeats)
    most = str(by_topics[-1])
    ways = {"few": most, "all": f"{most}, all"}
    return {
        "points": {size: found.of[size].median for size in works},
        "over all": {size: found.of[size].median for size in over_all},
        "perplexity": {
            way: perplexity(topics[name], split.heldout.shards(), ThreadEngine(THREADS))
            for way, name in ways.items()
            if name in topics
        },
        "others": found.others,
        "runs": found.to_dict(),
    }


# --- tables ------------------------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    for what, unit in (("tokens", "ms of a pass"), ("topics", f"ms of {PASSES} passes")):
        found = result[what]
        rows = [
            (size, f"{1e3 * seconds:,.0f}", f"{1e6 * seconds / int(size.split(',')[0]):,.2f}")
            for size, seconds in {**found["points"], **found.get("over all", {})}.items()
        ]
        title = f"CVE by {what}: slope {found['slope']:.2f}, others used {found['others']:.2f} cores"
        harness.show(title, (what, unit, f"µs / {what[:-1]}"), rows)
    rows = list(result["topics"]["perplexity"].items())
    harness.show("Perplexity with most topics, common prior", ("passes over", "perplexity"), rows)


if __name__ == "__main__":
    harness.alone("lda_scaling", run, show)
