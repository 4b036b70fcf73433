"""Tables of labels and of LSA dimensions."""

from __future__ import annotations

from typing import Any

from semascope.cli.render.terminal import console, print_json

MAX_DIMENSIONS = 10
"""Maximum number of dimensions shown with their words; the singular values are all shown."""


def show_dimensions(model: Any, n_words: int = 6) -> None:
    """Print the words at both ends of the first dimensions, and a chart of all singular values."""
    import numpy as np
    from rich.table import Table

    from semascope.cli.render.charts import Gallery, bars, chart
    from semascope.cli.render.screen import join_words

    table = Table(box=None, header_style="bold")
    table.add_column("dimension", justify="right", style="cyan")
    table.add_column("σ", justify="right")
    table.add_column("words at one end", overflow="fold")
    table.add_column("words at the other", overflow="fold")
    words, values = model.vocabulary_, np.asarray(model.singular_values_)
    for number, vector in enumerate(np.asarray(model.components_)[:MAX_DIMENSIONS]):
        order = np.argsort(-vector, kind="stable")
        ends = [words[j] for j in order[:n_words] if vector[j] > 0], [words[j] for j in order[::-1][:n_words] if vector[j] < 0]
        table.add_row(str(number), f"{values[number]:.4g}", *(join_words(end) for end in ends))
    console().print(table)
    places = np.unique(np.geomspace(1, len(values), min(len(values), 12)).round().astype(int))
    rows = [(f"{place}", float(values[place - 1]), f"{values[place - 1]:.3g}") for place in places]
    console().print("", Gallery([chart("Singular values", "by rank", bars(rows))]), soft_wrap=False)


MAX_LABELS = 40
"""Maximum number of labels in a table; the largest are shown."""


def label_table(model: Any, n_words: int) -> Any:
    """Return a table of labels, largest first."""
    from rich.table import Table

    from semascope.cli.render.charts import Bar
    from semascope.cli.render.screen import join_words

    table = Table(box=None, header_style="bold")
    table.add_column("label", style="cyan", overflow="fold")
    table.add_column("documents", justify="right")
    table.add_column("share", justify="right")
    table.add_column("", width=10)
    table.add_column("most probable words", overflow="fold")
    shares, names = model.label_shares_, model.topic_names_
    words = model.top_words(n=n_words)
    for label in sorted(range(len(names)), key=lambda k: -shares[k])[:MAX_LABELS]:
        documents = f"{model.label_documents_[label]:,}" if label < len(model.label_documents_) else "all"
        bar = Bar(shares[label] / max(shares.max(), 1e-300))
        table.add_row(names[label], documents, f"{shares[label]:.1%}", bar, join_words(words[label]))
    return table


def print_labels(model: Any, n_words: int) -> None:
    """Print all labels as JSON lines, in order."""
    documents = model.label_documents_.tolist()
    for label, (name, words) in enumerate(zip(model.topic_names_, model.top_words(n=n_words, weights=True), strict=True)):
        listed = [{"word": word, "probability": p} for word, p in words]
        own = documents[label] if label < len(documents) else None
        print_json({"label": name, "documents": own, "share": float(model.label_shares_[label]), "words": listed})
