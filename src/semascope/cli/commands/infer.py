"""semascope infer MODEL SOURCE"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    top_words_of_each,
)
from semascope.cli.render.document_rows import DocumentBlocks
from semascope.cli.render.terminal import Shell, console, print_json, print_next_step

if TYPE_CHECKING:
    from semascope.corpus.corpus import Corpus

MAX_WORDS = 8
"""Maximum number of words to show with each topic of a document."""


@command
def infer(
    model: ModelPath,
    source: TextsArgument,
    format: SourceFormat = None,
    encoding: SourceEncoding = None,
    text: TextFields = None,
    texts: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Field that maps languages to texts, for a multilingual model.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Language of the texts, for a multilingual model.")
    ] = None,
    id: IdField = "id",
    skip_bad: SkipBad = False,
    top: Annotated[int, typer.Option(min=1, help="Number of topics to show per document.")] = 3,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of documents in the table; --json prints all.")] = 20,
    words: Annotated[bool, typer.Option("--words", help="Assign each word of a document to a topic.")] = False,
    as_json: AsJson = False,
) -> None:
    """Infer the topics of the documents in SOURCE with MODEL."""
    from semascope.corpus.readers.sources import read
    from semascope.models.loading import load_topics

    fitted: Any = load_topics(model)
    _check_language_known(fitted, texts, language)
    documents = read(
        source, format=format, text=text or "text", texts=texts, id=id, keep=(), encoding=encoding, skip_bad=skip_bad
    )
    each, n_unknown = DocumentBlocks(source, documents, None if as_json else limit), 0
    shown: list[Inferred] = []
    for ids, block in each:
        corpus = fitted.to_corpus(_texts(block["text"], language))
        n_unknown += int((corpus.rows.ends[1:] == corpus.rows.ends[:-1]).sum())
        rows = _infer_block(fitted, ids, corpus, words)
        if as_json:
            _print(fitted.topic_names_, rows)
        else:
            shown += rows
    each.report_problems(n_unknown)
    if as_json:
        return
    _show(fitted, shown, top)
    each.report_omitted()
    again = ["semascope", "infer", model, source, *(["--words"] if words else []), "--json", Shell("> topics.jsonl")]
    print_next_step(again, ["semascope", "topics", model])


class Inferred(NamedTuple):
    """Inferred topics of a document, P(topic | document), and optionally the topic of each word.

    `known` is false if the document has no word of the vocabulary; its shares are then those of the collection.
    """

    id: str
    known: bool
    shares: Any
    words: list[dict[str, Any]] | None


def _infer_block(model: Any, ids: list[str], corpus: Corpus, words: bool) -> Iterator[Inferred]:
    from semascope.inference.attribution import word_table

    theta, ends = model.transform(corpus), corpus.rows.ends
    table = word_table(corpus.rows, corpus.words, model.components_.T, theta).drop("document") if words else None
    for number, (name, shares) in enumerate(zip(ids, theta, strict=True)):
        of_words = None if table is None else table[ends[number] : ends[number + 1]].to_dicts()
        yield Inferred(name, bool(ends[number] < ends[number + 1]), shares, of_words)


def _check_language_known(model: Any, texts: str | None, language: str | None) -> None:
    known, message = model.languages_, None
    if language is not None and language not in known:
        has = ", ".join(known) if known else "a single unnamed language"
        message = f"--language: the model has {has}, not {language}."
    elif known and texts is None and language is None:
        message = (
            f"the model has the languages {', '.join(known)}: set --language, or --texts for a field of texts by language."
        )
    if message:
        raise typer.BadParameter(message)


def _texts(column: Any, language: str | None) -> list[Any]:
    """Return texts as the model takes them: plain or by language."""
    import polars as pl

    if column.dtype != pl.String:
        return list(column.to_list())
    plain = column.fill_null("").to_list()
    return plain if language is None else [{language: text} for text in plain]


def _print(names: list[str], rows: Iterable[Inferred]) -> None:
    for row in rows:
        largest = int(row.shares.argmax()) if row.known else None
        line: dict[str, Any] = {"id": row.id, "topic": largest, "name": None if largest is None else names[largest]}
        line["topics"] = [round(float(share), 6) for share in row.shares]
        if row.words is not None:
            line["words"] = [{**entry, "weight": entry["weight"] and round(entry["weight"], 6)} for entry in row.words]
        print_json(line)


def _show(model: Any, rows: list[Inferred], top: int) -> None:
    from rich.console import Group
    from rich.table import Table

    from semascope.cli.render.screen import Parts

    names, words = model.topic_names_, top_words_of_each(model, 4)
    table = Table(box=None, header_style="bold")
    table.add_column("document", style="cyan")
    table.add_column("topics, and the words assigned to them" if rows[0].words is not None else "topics")
    for row in rows:
        if not row.known:
            table.add_row(row.id, "–")
            continue
        best = [z for z in (-row.shares).argsort(kind="stable")[:top] if row.shares[z] >= 0.005]
        assigned = [words[z] if row.words is None else _words_of_topic(z, row.words) for z in best]
        lines = (
            Parts(f"{row.shares[z]:4.0%} ", f"{names[z]}:", *listed, separator=" ")
            for z, listed in zip(best, assigned, strict=True)
        )
        table.add_row(row.id, Group(*lines))
    console().print(table)


def _words_of_topic(topic: int, words: list[dict[str, Any]]) -> list[str]:
    """Return the words of a document assigned to a topic, by decreasing weight."""
    own = [entry for entry in words if entry["topic"] == topic]
    return [entry["word"] for entry in sorted(own, key=lambda entry: -entry["count"] * entry["weight"])[:MAX_WORDS]]
