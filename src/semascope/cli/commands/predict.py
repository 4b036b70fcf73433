"""semascope predict MODEL SOURCE"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer

from semascope.cli.app import (
    AsJson,
    IdField,
    ModelPath,
    SkipBad,
    SourceEncoding,
    SourceFormat,
    TextFields,
    TextsArgument,
    command,
)
from semascope.cli.render.document_rows import DocumentBlocks
from semascope.cli.render.terminal import Shell, console, print_json, print_next_step


@command
def predict(
    model: ModelPath,
    source: TextsArgument,
    format: SourceFormat = None,
    encoding: SourceEncoding = None,
    text: TextFields = None,
    id: IdField = "id",
    skip_bad: SkipBad = False,
    top: Annotated[int, typer.Option(min=1, help="Number of labels to show per document, predicted or not.")] = 3,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of documents in the table; --json prints all.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of the documents in SOURCE with MODEL."""
    from semascope.corpus.readers.sources import read
    from semascope.models.loading import load_labels

    fitted = load_labels(model)
    documents = read(source, format=format, text=text or "text", id=id, keep=(), encoding=encoding, skip_bad=skip_bad)
    each, n_unknown = DocumentBlocks(source, documents, None if as_json else limit), 0
    shown: list[Predicted] = []
    for ids, block in each:
        for found in _predict_block(fitted, ids, block["text"].fill_null("").to_list(), top):
            n_unknown += not found.likely
            if as_json:
                print_json({"id": found.id, "labels": found.labels, "probabilities": found.likely})
            else:
                shown.append(found)
    each.report_problems(n_unknown)
    if as_json:
        return
    _show(shown)
    each.report_omitted()
    print_next_step(
        ["semascope", "predict", model, source, "--json", Shell("> labels.jsonl")], ["semascope", "attribute", model, "TEXT"]
    )


class Predicted(NamedTuple):
    """Predicted labels of a document, and its likeliest labels with probabilities; empty if no word is known."""

    id: str
    labels: list[str]
    likely: dict[str, float]


def _predict_block(model: Any, ids: list[str], texts: list[str], top: int) -> Iterator[Predicted]:
    p = model.predict_proba(texts)
    for name, labels, row in zip(ids, model.predicted_labels(texts), p, strict=True):
        best = [k for k in (-row).argsort(kind="stable")[: max(top, len(labels))] if row[k] > 0]
        yield Predicted(name, labels if best else [], {model.label_names_[k]: round(float(row[k]), 6) for k in best})


def _show(rows: list[Predicted]) -> None:
    from rich.table import Table

    from semascope.cli.render.screen import Parts

    table = Table(box=None, header_style="bold")
    table.add_column("document", style="cyan")
    table.add_column("labels, the predicted ones in bold")
    for row in rows:
        labels = ((f"{name} {p:.0%}", "bold" if name in row.labels else "dim") for name, p in row.likely.items())
        table.add_row(row.id, Parts(*labels, separator="  ") if row.likely else "–")
    console().print(table)
