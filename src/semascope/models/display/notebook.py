"""HTML representations of models in notebooks, and input of pyLDAvis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.corpus.corpus import Corpus
from semascope.errors import InputError
from semascope.html import Markup, element
from semascope.models.display.topic_view import TopicView

if TYPE_CHECKING:
    from numpy.typing import NDArray


if TYPE_CHECKING:
    from semascope.models.sklearn_imports import BaseEstimator as Base
else:
    Base = object

SHOWN = 10
"""Number of topics shown, largest first."""
WORDS = 8


class NotebookRepr(Base):
    """Mixin that adds a table of topics or labels to the HTML representation of an estimator."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + _topic_table(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += _topic_table(self)
        return bundle


def _topic_table(model: Any) -> str:
    """Render a table of the largest topics; empty for an unfitted model."""
    if not model.__sklearn_is_fitted__():
        return ""
    view = TopicView.of(model)
    largest = np.argsort(-view.shares, kind="stable")[:SHOWN]
    rows = [_row(view, int(topic)) for topic in largest]
    more = len(view) - len(rows)
    head = element("tr", *(element("th", name) for name in (view.kind.removesuffix("s"), "share", "words")))
    rest = element("p", f"{more:,} more; plot_topics() and plot_map() draw them") if more else None
    return element("div", element("table", element("thead", head), element("tbody", *rows)), rest)


def _row(view: TopicView, topic: int) -> Markup:
    words = " ".join(view.top_words(topic, WORDS, view.main_language))
    return element("tr", *(element("td", text) for text in (view.names[topic], f"{view.shares[topic]:.1%}", words)))


def pyldavis_arguments(
    words: NDArray[np.object_], topics: NDArray[Any], doc_topics: NDArray[Any], corpus: Corpus
) -> dict[str, NDArray[Any]]:
    """Return the arguments of `pyLDAvis.prepare`, which accepts neither unused words nor zero probabilities.

    Parameters
    ----------
    words : ndarray of shape (n_words,)
        Vocabulary of the model.
    topics : ndarray of shape (n_topics, n_words)
        P(word | topic).
    doc_topics : ndarray of shape (n_documents, n_topics)
        P(topic | document).
    corpus : Corpus
        Documents with the same vocabulary.
    """
    frequency = np.bincount(corpus.rows.words, corpus.rows.counts, corpus.n_words)
    used = frequency > 0
    if not used.any():
        msg = "the documents have no word that the model knows."
        raise InputError(msg)
    return {
        "topic_term_dists": _distributions(np.asarray(topics)[:, used]),
        "doc_topic_dists": _distributions(doc_topics),
        "doc_lengths": np.asarray(corpus.counts.sum(axis=1), np.float64).ravel(),
        "vocab": words[used],
        "term_frequency": frequency[used],
    }


def _distributions(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Normalize rows in double precision."""
    positive = np.maximum(np.asarray(rows, np.float64), np.finfo(np.float32).tiny)
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))
