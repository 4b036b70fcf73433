"""How labels and their words are shown."""

from __future__ import annotations

from typing import Any

from semascope.cli.terminal import print_json

SHOWN = 40
"""Labels in a table, the largest of them."""


def label_table(model: Any, n_words: int) -> Any:
    """A table of labels, the one that most words are due to first."""
    from rich.table import Table

    from semascope.cli.pictures import Bar
    from semascope.cli.screen import words_in_a_line

    table = Table(box=None, header_style="bold")
    table.add_column("label", style="cyan", overflow="fold")
    table.add_column("documents", justify="right")
    table.add_column("share", justify="right")
    table.add_column("", width=10)
    table.add_column("most probable words", overflow="fold")
    shares, names = model.label_shares_, model.topic_names_
    words = model.top_words(n=n_words)
    for label in sorted(range(len(names)), key=lambda k: -shares[k])[:SHOWN]:
        documents = f"{model.label_documents_[label]:,}" if label < len(model.label_documents_) else "all"
        bar = Bar(shares[label] / max(shares.max(), 1e-300))
        table.add_row(names[label], documents, f"{shares[label]:.1%}", bar, words_in_a_line(words[label]))
    return table


def print_labels(model: Any, n_words: int) -> None:
    """Print all labels as JSON lines, in their order."""
    documents = model.label_documents_.tolist()
    for label, (name, words) in enumerate(zip(model.topic_names_, model.top_words(n=n_words, weights=True), strict=True)):
        listed = [{"word": word, "probability": p} for word, p in words]
        own = documents[label] if label < len(documents) else None
        print_json({"label": name, "documents": own, "share": float(model.label_shares_[label]), "words": listed})
