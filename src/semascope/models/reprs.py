"""How a fitted model shows itself in a notebook: as scikit-learn's estimators do, and its topics below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semascope.markup import Markup, element
from semascope.models.themes import Themes

if TYPE_CHECKING:
    from semascope.models.sklearn_imports import BaseEstimator as Base
else:
    Base = object

SHOWN = 10
"""Topics to show: the largest."""
WORDS = 8


class ShowsTopics(Base):
    """Adds a table of topics or labels to what scikit-learn shows of an estimator."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + _topics_of(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += _topics_of(self)
        return bundle


def _topics_of(model: Any) -> str:
    """A table of the largest topics; nothing of a model that is not fitted."""
    if not model.__sklearn_is_fitted__():
        return ""
    themes = Themes.of(model)
    largest = np.argsort(-themes.shares, kind="stable")[:SHOWN]
    rows = [_row(themes, int(topic)) for topic in largest]
    more = len(themes) - len(rows)
    head = element("tr", *(element("th", name) for name in (themes.kind.removesuffix("s"), "share", "words")))
    rest = element("p", f"{more:,} more; plot_topics() and plot_map() draw them") if more else None
    return element("div", element("table", element("thead", head), element("tbody", *rows)), rest)


def _row(themes: Themes, topic: int) -> Markup:
    words = " ".join(themes.top_words(topic, WORDS, themes.main_language))
    return element("tr", *(element("td", text) for text in (themes.names[topic], f"{themes.shares[topic]:.1%}", words)))
