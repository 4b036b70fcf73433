"""How many queries a second, beside bm25s?

CVE, 167,093 descriptions, stemmed, without stop words; 2,000 queries of eight running words of random documents, the ten best
documents of each, two cores. All are given queries that were read already: bm25s lists of words, semascope its own form. bm25s
has its Numba backend and all cores; its best figure of one thread and of all counts. Hybrid search has the space of the index,
and a topic model of 100 topics in addition. Also: seconds to build the index, and its size.

Takes about three minutes; with --quick, Reuters and fewer repeats, less than one.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from benchmarks import data, harness
from benchmarks.claims import Claim
from semascope import LDA, Analyzer, Corpus, Index, read

N_QUERIES, LENGTH, BEST = 2000, 8, 10
N_TOPICS = 100
THEIRS, BM25, LSA, PLAIN, TOPICS = "bm25s", "semascope bm25", "semascope lsa", "semascope hybrid", "semascope hybrid, topics"


def run(quick: bool) -> dict[str, Any]:
    """Measure queries a second, and what building takes."""
    analyzer = Analyzer(stop_words="english", stemmer="english")
    name, collection = ("Reuters", data.REUTERS) if quick else ("CVE", data.CVE)
    corpus = Corpus.build(read(data.folder(collection) / data.FILE), analyzer)
    texts = _queries(corpus)
    building: dict[str, float] = {}
    theirs = _timed(building, THEIRS, lambda: _bm25s(corpus))
    plain = _timed(building, PLAIN, lambda: Index.build(corpus))
    model = LDA(N_TOPICS, random_state=0, max_iter=20).fit(corpus)
    topics = _timed(building, TOPICS, lambda: Index.build(corpus, model))
    words, asked = [analyzer.words(text) for text in texts], plain.read(texts)
    with harness.cores(2):
        found = harness.compare(
            {
                THEIRS: lambda: theirs.retrieve(words, k=BEST, n_threads=-1, show_progress=False),
                BM25: lambda: plain.rank(asked, BEST, by="bm25"),
                LSA: lambda: plain.rank(asked, BEST, by="lsa"),
                PLAIN: lambda: plain.rank(asked, BEST, by="hybrid"),
                TOPICS: lambda: topics.rank(asked, BEST, by="hybrid"),
            },
            repeats=3 if quick else 7,
        )
    per_second = {name: N_QUERIES / one.median for name, one in found.of.items()}

    def goal(name: str, at_least: float) -> dict[str, Any]:
        return harness.goal(f"{name} / bm25s", per_second[name] / per_second[THEIRS], at_least=at_least, others=found.others)

    return {
        "goals": [goal(BM25, 0.9), goal(PLAIN, 0.2), goal(TOPICS, 0.2)],
        "per_second": per_second,
        "building": building,
        "megabytes": {PLAIN: _megabytes(plain), TOPICS: _megabytes(topics), THEIRS: _megabytes(theirs)},
        "collection": name,
        "documents": len(plain),
        "words_of_a_query": len(asked.rows.words) / N_QUERIES,
        "runs": found.to_dict(),
    }


def _queries(corpus: Corpus) -> list[str]:
    """Running words of random documents."""
    generator = np.random.default_rng(0)
    assert corpus.texts is not None
    texts = []
    for number in generator.choice(corpus.n_documents, N_QUERIES, replace=False):
        words = corpus.texts[int(number)].split()
        first = int(generator.integers(0, max(1, len(words) - LENGTH)))
        texts.append(" ".join(words[first : first + LENGTH]))
    return texts


def _bm25s(corpus: Corpus) -> Any:
    """Their index of the same words."""
    vocabulary, rows = corpus.vocabulary, corpus.rows
    repeated = np.repeat(vocabulary[rows.words], rows.counts.astype(int))
    ends = np.concatenate([[0], np.cumsum(rows.counts)]).astype(int)[rows.ends]
    documents = [part.tolist() for part in np.split(repeated, ends[1:-1])]
    index = bm25s.BM25(backend="numba")
    index.index(documents, show_progress=False)
    return index


def _timed(building: dict[str, float], name: str, build: Any) -> Any:
    built: list[Any] = []
    building[name] = harness.elapsed(lambda: built.append(build())).wall
    return built[0]


def _megabytes(index: Any) -> float:
    """Size of an index on disk; ours with the texts, theirs without."""
    with tempfile.TemporaryDirectory(prefix="semascope-search-") as home:
        index.save(Path(home) / "index")
        return sum(path.stat().st_size for path in Path(home).rglob("*") if path.is_file()) / 1e6


def claims(result: dict[str, Any]) -> list[Claim]:
    """Queries a second, seconds to build and megabytes beside bm25s."""
    speed, others = result["per_second"], result["runs"]["others"]
    found = [
        Claim(name.removeprefix("semascope "), speed[name], speed[THEIRS], THEIRS, "queries / s", True, others=others)
        for name in (BM25, LSA, PLAIN, TOPICS)
    ]
    for name, what in ((PLAIN, "index with LSA"), (TOPICS, "index with LSA and topics")):
        found.append(Claim(f"build, {what}", result["building"][name], result["building"][THEIRS], THEIRS, others=others))
        found.append(Claim(f"size, {what} and texts", result["megabytes"][name], result["megabytes"][THEIRS], THEIRS, "MB"))
    return found


def show(result: dict[str, Any]) -> None:
    """Print queries a second, build times and sizes."""
    harness.show_goals(result["goals"])
    building, size = result["building"], result["megabytes"]
    rows = [
        (
            name,
            f"{value:,.0f}",
            f"{building[name]:.1f}" if name in building else "",
            f"{size[name]:.0f}" if name in size else "",
        )
        for name, value in result["per_second"].items()
    ]
    title = (
        f"{result['collection']}: {result['documents']:,} documents, {result['words_of_a_query']:.1f} different words a query"
    )
    harness.show(title, ("", "queries a second", "seconds to build", "megabytes"), rows)


if __name__ == "__main__":
    harness.alone("search_speed", run, show)
