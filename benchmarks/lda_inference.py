"""How many documents a second does LDA tell the topics of, and are the answers sound?

A model of 100 topics is fitted to a part of CVE; the topics of other CVE texts, which are short, are then asked for, once as a
matrix of counts and once as the raw texts. Rows must sum to one, and a document must get the same answer, bit for bit, alone
as among others.

Takes about 3 minutes on two cores; with --quick about one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import data, harness
from semascope import LDA, Analyzer, Corpus, ThreadEngine

TOPICS = 100
THREADS = 2
SEED = 0
DOCUMENTS = 40_000
"""Documents whose topics are asked for."""
SAMPLE = 300
"""Documents that are asked for alone, too."""
PER_SECOND = 20_000
ROUNDING = 1e-5


def run(quick: bool) -> dict[str, Any]:
    """Fit a model and ask it."""
    return infer(data.texts(data.CVE)[""], DOCUMENTS, passes=10 if quick else 50, repeats=3 if quick else 9)


def infer(texts: list[str], documents: int, *, passes: int, repeats: int) -> dict[str, Any]:
    """Fit a model to all texts but some, and ask for the topics of these."""
    order = np.random.default_rng(SEED).permutation(len(texts))
    asked, learned = ([texts[i] for i in part] for part in (order[:documents], order[documents:]))
    analyzer = Analyzer(stop_words="english", min_df=5, max_df=0.5)
    corpus = Corpus.from_texts(learned, analyzer=analyzer)
    with harness.cores(THREADS):
        model = LDA(TOPICS, max_iter=passes, random_state=SEED, engine=ThreadEngine(THREADS)).fit(corpus)
        counts = Corpus.from_texts(asked, analyzer=analyzer, vocabulary=corpus.words).counts
        kinds = {"counts": counts, "texts": asked}
        found = harness.compare({kind: lambda X=X: model.transform(X) for kind, X in kinds.items()}, repeats=repeats)
        answers = {kind: model.transform(X) for kind, X in kinds.items()}
        alone = {kind: _same_alone(model, X, answers[kind]) for kind, X in kinds.items()}
    off = max(float(np.abs(answer.sum(axis=1, dtype=np.float64) - 1).max()) for answer in answers.values())
    per_second = {kind: documents / found.of[kind].median for kind in kinds}
    return {
        "goals": [
            *(
                harness.goal(f"documents a second, as {kind}", number, at_least=PER_SECOND, others=found.others)
                for kind, number in per_second.items()
            ),
            harness.goal(f"rows' sums, largest distance from one / {ROUNDING:g}", off / ROUNDING, at_most=1),
            *(harness.goal(f"same bits alone as together, share, {kind}", same, at_least=1) for kind, same in alone.items()),
        ],
        "documents": documents,
        "words": corpus.n_words,
        "tokens_a_document": float(counts.sum() / documents),
        "per_second": per_second,
        "same_as_counts": answers["texts"].tobytes() == answers["counts"].tobytes(),
        "seconds": found.to_dict(),
    }


def _same_alone(model: LDA, X: Any, together: Any) -> float:
    """Share of a sample of documents that get the same bits when nothing else is asked for."""
    chosen = np.random.default_rng(SEED).choice(len(together), min(SAMPLE, len(together)), replace=False)
    return float(np.mean([model.transform(X[i : i + 1])[0].tobytes() == together[i].tobytes() for i in chosen.tolist()]))


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    title = f"{result['documents']:,} documents of {result['tokens_a_document']:.1f} words, {TOPICS} topics, {THREADS} threads"
    rows = [(kind, f"{number:,.0f}") for kind, number in result["per_second"].items()]
    harness.show(title, ("given as", "documents / s"), rows)
    harness.console.print(f"texts and their counts get the same topics: {'yes' if result['same_as_counts'] else 'NO'}")


if __name__ == "__main__":
    harness.alone("lda_inference", run, show)
