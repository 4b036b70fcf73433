"""A program as users write them, for mypy: what it must refuse is marked, and a mark where nothing is wrong is an error."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import semascope as ss


def program(path: Path) -> list[str]:
    """Use what the package offers."""
    documents: ss.Documents = ss.read(path, text=["headline", "body"], labels="topics")
    corpus = ss.Corpus.build(documents, ss.Analyzer(stop_words="english", min_df=5))
    train, test = corpus.split(0.1, seed=0)
    model = ss.LDA(20, alpha="auto", random_state=0, engine=ss.ThreadEngine(2)).fit(train, heldout=test)
    score: float = model.score(test)
    vocabulary: NDArray[np.object_] = model.to_pyldavis(test)["vocab"]
    names: list[str] = model.rename_topics({0: f"best of {score}"}).topic_names_
    labels: list[str] = ss.LabeledLDA().fit(corpus).label_names_
    index = ss.Index.build(corpus, model, path="index")
    found = [hit.id for hit in index.search("a query", k=3)]

    ss.LDA(topics=20)  # type: ignore[call-arg]
    ss.Corpus.build(documents, path=3)  # type: ignore[arg-type]
    corpus.n_words + "words"  # type: ignore[operator]
    found = corpus  # type: ignore[assignment]
    return [*names, *labels, *found, *vocabulary]
