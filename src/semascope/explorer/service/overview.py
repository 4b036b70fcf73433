"""Overview of a model: its facts and the map of its topics.

For topic models it is read from the model directory alone, because importing scikit-learn would delay the first page.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semascope.corpus.build.disk import LAYOUT
from semascope.corpus.lexicon import Lexicon, read_lexicon
from semascope.corpus.text.analyzer import Analyzer, read_analyzers
from semascope.errors import FormatError, InputError
from semascope.models import layouts
from semascope.models.display.topic_map import topic_map
from semascope.models.display.topic_view import TopicView
from semascope.models.layouts import KIND
from semascope.models.registry import TOPICS, entries, names_where
from semascope.models.topic_names import shown_names
from semascope.storage import Directory, open_directory

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_WORDS = 10


@dataclass(frozen=True, eq=False)
class Overview:
    """Overview of a model.

    model       class name of the model
    themes      its topics or labels
    places      float64[k, 2], positions of topics on the map
    documents   int64[k], number of documents per topic
    n           total number of documents
    fields      names of document fields; None without a corpus
    problem     what is unavailable, and the remedy
    """

    model: str
    themes: TopicView
    places: NDArray[np.float64]
    documents: NDArray[np.int64]
    n: int
    fields: frozenset[str] | None
    problem: str | None


def check_explorable(path: Path) -> str:
    """Return the class name of the model at a path; raise an error if it has no topics."""
    name = str(open_directory(path, KIND).facts["model"])
    if name in names_where(explore=True):
        return name
    msg = f"{path}: contains {name}, which has no topics to explore; search with it instead: semascope index {path} INDEX"
    raise InputError(msg)


def read_overview(path: Path, corpus: Path | None) -> Overview | None:
    """Read the overview of a topic model; return None for label models, which must be loaded."""
    directory = open_directory(path, KIND)
    entry = entries().get(directory.facts["model"])
    if entry is None or entry.traits.preview is None:
        return None
    directory = directory.with_layout(getattr(layouts, entry.traits.preview)())
    themes, table = _themes(directory), directory.array("doc_topics")
    largest = np.bincount(table.argmax(axis=1), minlength=len(themes)) if len(table) else np.zeros(len(themes), np.int64)
    about = read_corpus_overview(corpus or own_path(directory.facts["fitted"].get("corpus_")), given=corpus is not None)
    n_documents = len(table) if about.n is None else about.n
    return Overview(directory.facts["model"], themes, topic_map(themes), largest, n_documents, about.fields, about.problem)


class AboutCorpus(NamedTuple):
    """Number and fields of the documents of a corpus, or the reason why it is unavailable."""

    n: int | None
    fields: frozenset[str] | None
    problem: str | None


def read_corpus_overview(path: Path | None, *, given: bool) -> AboutCorpus:
    """Read the number and fields of documents without opening the corpus."""
    if path is None:
        problem = "the model was not fitted to a corpus on disk; set one with --corpus."
        return AboutCorpus(None, None, problem)
    try:
        facts = open_directory(path, LAYOUT).facts
    except FormatError as error:
        moved = f"the corpus of the model is no longer at {path}; set it with --corpus."
        return AboutCorpus(None, None, str(error) if given or path.exists() else moved)
    fields = frozenset(facts.get("fields", ["text"]))
    without = "the corpus contains no texts; passages and highlighted words are not available."
    return AboutCorpus(facts["n_documents"], fields, None if "text" in fields else without)


def own_path(about: dict[str, Any] | None) -> Path | None:
    """Return the path of the corpus that a model was fitted to."""
    about = about or {}
    path = about.get("path") or about.get("split_from", {}).get("path")
    return None if path is None else Path(path)


def _themes(directory: Directory) -> TopicView:
    facts, topics = directory.facts, directory.array("topics").T
    given = [*facts.get("topic_names", ()), *[None] * len(topics)][: len(topics)]
    named, shares = [name is not None for name in given], np.asarray(directory.array("topic_shares"), np.float64)
    words = Lexicon.of([f"x{j}" for j in range(topics.shape[1])])
    if "vocabulary.arrow" in directory:
        words = read_lexicon(directory)
    languages = words.languages if len(words.languages) > 1 else ()
    names, analyzer = shown_names(given, len(topics)), read_analyzers(directory) or Analyzer()
    return TopicView(TOPICS, names, named, shares, words.words, languages, words.of_word, analyzer, topics)
