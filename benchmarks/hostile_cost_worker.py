"""One process of `hostile_cost`: make the directories, or time what is done with them by the semascope on the path.

`python -m benchmarks.hostile_cost_worker make FOLDER` and `… time FOLDER`, which prints seconds by operation as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import semascope as ss
from benchmarks import data

TOPICS, ITERATIONS, QUERIES, LENGTH = 50, 5, 200, 8
TEXTS = "queries.json"
FIRST = "first"
"""The same directories once more, to load kernels and modules by: what is timed is opened for the first time."""


def make(folder: Path, small: bool) -> None:
    """Make a corpus, models and an index, of 20 Newsgroups where they are, or of documents that are made up."""
    texts, labels = _documents(1_500 if small else None)
    corpus = ss.Corpus.from_texts(texts, labels=labels, analyzer=ss.Analyzer(stop_words="english", min_df=2))
    corpus.save(folder / "corpus")
    model = ss.LDA(TOPICS, max_iter=ITERATIONS, random_state=0).fit(corpus)
    model.save(folder / "model")
    ss.Index.build(corpus, model, path=folder / "index")
    ss.LabeledLDA(max_iter=4, random_state=0).fit(corpus).save(folder / "labels")
    ss.OnlineLabeledLDA(4, random_state=0).partial_fit(texts[:500], labels[:500]).save(folder / "stream")
    chance = np.random.default_rng(0)
    words = [text.split() for text in texts if len(text.split()) > LENGTH]
    asked = [words[number] for number in chance.integers(len(words), size=QUERIES)]
    (folder / TEXTS).write_text(json.dumps([" ".join(one[:LENGTH]) for one in asked]))
    shutil.copytree(folder, folder / FIRST, copy_function=os.link)


def _documents(most: int | None) -> tuple[list[str], list[list[str]]]:
    try:
        records = list(data.records(data.NEWSGROUPS))[:most]
        return [record["text"] for record in records], [record["labels"] for record in records]
    except data.NoDataError:
        counts = data.ap89_like()[:most]
    names = np.array([f"word{number}" for number in range(counts.shape[1])])
    texts = []
    for first, last in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        texts.append(" ".join(np.repeat(names[counts.indices[first:last]], counts.data[first:last].astype(int))))
    return texts, [[f"label {number % 20}"] for number in range(len(texts))]


def timed(folder: Path, n_queries: int = QUERIES) -> dict[str, float]:
    """Time each operation once, in the order in which a person does them: processor time of all threads, in seconds."""
    took: dict[str, float] = {}
    asked = json.loads((folder / TEXTS).read_text())[:n_queries]

    def clock(what: str, function: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = function()
        took[what] = time.process_time() - began
        return result

    corpus = clock("open a corpus", lambda: ss.Corpus.open(folder / "corpus"))
    clock("touch all shards for the first time", lambda: [ref.open().rows.counts.sum() for ref in corpus.shards()])
    clock("touch all shards again", lambda: [ref.open().rows.counts.sum() for ref in corpus.shards()])
    clock("fit LDA", lambda: ss.LDA(TOPICS, max_iter=ITERATIONS, tol=0, random_state=0).fit(corpus))
    clock("fit PLSA", lambda: ss.PLSA(TOPICS, max_iter=ITERATIONS, tol=0, random_state=0).fit(corpus))
    model = clock("load a model", lambda: ss.load(folder / "model"))
    clock("transform a corpus", lambda: model.transform(corpus))
    labels = clock("load a model of labels", lambda: ss.load(folder / "labels"))
    clock("predict labels", lambda: labels.predict(asked))
    stream = clock("load the model of a stream", lambda: ss.load(folder / "stream"))
    clock("learn from a stream", lambda: stream.partial_fit(asked, [["label 1"]] * len(asked)))
    index = clock("open an index", lambda: ss.Index.open(folder / "index"))
    clock("first search", lambda: index.search(asked[0]))
    clock(f"{QUERIES} searches", lambda: [index.search(text) for text in asked])
    return took


if __name__ == "__main__":
    task, home = sys.argv[1], Path(sys.argv[2])
    if task == "time":
        timed(home / FIRST, 2)
        sys.stdout.write(json.dumps(timed(home)) + "\n")
    else:
        make(home, small=task == "make-small")
