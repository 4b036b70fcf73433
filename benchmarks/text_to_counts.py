"""Is counting words several times faster than scikit-learn's CountVectorizer, and is the result exactly the same?

Speed is measured on 20 Newsgroups, from a list of strings to the matrix; sameness on every collection that is found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import data, harness
from benchmarks.claims import Claim
from semascope import Corpus

CORES = 2


def run(quick: bool) -> dict[str, Any]:
    """Measure speed, then compare matrices."""
    with harness.cores(CORES):
        speed = _speed(data.texts(data.NEWSGROUPS)[""], repeats=2 if quick else 5)
    names = [data.NEWSGROUPS] if quick else data.collections()
    equality = [_equal(name, language, texts) for name in names for language, texts in data.texts(name).items()]
    goals = [
        harness.goal("CountVectorizer / semascope, time", speed["ratio"], at_least=8, others=speed["others"]),
        harness.goal("matrices equal, share", np.mean([row["equal"] for row in equality]).item(), at_least=1),
    ]
    return {"goals": goals, "speed": speed, "equality": equality}


def _speed(texts: list[str], repeats: int) -> dict[str, Any]:
    compared = harness.compare(
        {"semascope": lambda: Corpus.from_texts(texts), "sklearn": lambda: CountVectorizer().fit_transform(texts)},
        repeats=repeats,
    )
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    return {
        "cores": CORES,
        "megabytes": megabytes,
        "ratio": compared.ratio("sklearn", "semascope"),
        "others": compared.others,
        "ratio_spread": compared.spread("sklearn", "semascope"),
        "megabytes_per_second": {name: megabytes / m.median for name, m in compared.of.items()},
        "seconds": compared.to_dict(),
    }


def _equal(name: str, language: str, texts: list[str]) -> dict[str, Any]:
    corpus = Corpus.from_texts(texts)
    vectorizer = CountVectorizer()
    expected = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    ours = {word: column for column, word in enumerate(corpus.vocabulary)}
    same = len(ours) == len(words) and all(word in ours for word in words)
    if same:
        counts = corpus.counts[:, [ours[word] for word in words]]
        same = counts.shape == expected.shape and (counts != expected).nnz == 0
    return {
        "collection": f"{name} {language}".strip(),
        "documents": corpus.n_documents,
        "words": corpus.n_words,
        "entries": len(corpus.rows.words),
        "equal": bool(same),
    }


def claims(result: dict[str, Any]) -> list[Claim]:
    """Ours beside CountVectorizer's."""
    speed = result["speed"]
    ours, theirs = (speed["seconds"][name]["median"] for name in ("semascope", "sklearn"))
    what = f"20 Newsgroups, {speed['megabytes']:.0f} MB, CountVectorizer"
    return [Claim(what, ours, theirs, "scikit-learn", spread=speed["ratio_spread"], others=speed["others"])]


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    harness.show_goals(result["goals"])
    speed = result["speed"]
    low, high = speed["ratio_spread"]
    rows = [
        (name, f"{speed['seconds'][name]['median']:.3f}", f"{speed['seconds'][name]['min']:.3f}", f"{rate:.1f}")
        for name, rate in speed["megabytes_per_second"].items()
    ]
    title = f"20 Newsgroups, {speed['megabytes']:.1f} MB, {speed['cores']} cores (ratios {low:.1f} to {high:.1f})"
    harness.show(title, ("package", "median s", "min s", "MB/s"), rows)
    harness.console.print(f"cores used by others meanwhile: {speed['others']:.2f}")
    columns = ("collection", "documents", "words", "entries")
    rows = [(*(row[c] for c in columns), "yes" if row["equal"] else "NO") for row in result["equality"]]
    harness.show("Matrix against CountVectorizer's", (*columns, "equal"), rows)


if __name__ == "__main__":
    harness.alone("text_to_counts", run, show)
