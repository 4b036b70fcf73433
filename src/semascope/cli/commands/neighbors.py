"""semascope neighbors MODEL WORD|DOC"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, ModelPath, command
from semascope.cli.render.terminal import console, is_sanitized, print_json, print_next_step
from semascope.errors import InputError
from semascope.models.registry import DIMENSIONS

if TYPE_CHECKING:
    from semascope.corpus.corpus import Corpus


@command
def neighbors(
    model: ModelPath,
    what: Annotated[str, typer.Argument(metavar="WORD|DOC", help="Word of the model, or id of one of its documents.")],
    document: Annotated[bool, typer.Option("--document", help="Treat it as a document id even if it is also a word.")] = False,
    n: Annotated[int, typer.Option("-n", min=1, help="Number of neighbors.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show the words nearest to a word, or the documents nearest to a document, in the space of an LSA model."""
    from semascope.models.loading import load

    fitted = load(model)
    if fitted.kind != DIMENSIONS:
        message = f"{model}: contains {type(fitted).__name__}, but neighbors requires LSA (semascope fit --model lsa)."
        raise InputError(message)
    if not document and what in set(fitted.vocabulary_):
        kind, found = "word", [(word, "", cosine) for word, cosine in fitted.similar_words(what, n)]
    else:
        kind, found = "document", _documents(fitted, what, n)
    _show(kind, found, as_json)
    example = next((name for name, *_ in found if is_sanitized(name) and not name.startswith("-")), None)
    if example is not None and not as_json:
        print_next_step(["semascope", "neighbors", model, example, *(["--document"] if kind == "document" else [])])


def _documents(fitted: Any, name: str, n: int) -> list[tuple[str, str, float]]:
    """Return ids, titles and cosines of the documents nearest to one."""
    from semascope.model_selection import own_corpus

    corpus = own_corpus(fitted)
    ids = corpus.documents["id"].to_list()
    if name not in ids:
        message = f"{name!r} is neither a word of the model nor the id of a document of {corpus.path}."
        raise InputError(message)
    titles = _titles(corpus)
    return [(str(ids[j]), titles[j], cosine) for j, cosine in fitted.similar_documents(ids.index(name), n)]


def _titles(corpus: Corpus) -> list[str]:
    table = corpus.documents
    if "title" not in table.columns:
        return [""] * len(table)
    return [title or "" for title in table["title"].to_list()]


def _show(kind: str, found: list[tuple[str, str, float]], as_json: bool) -> None:
    if as_json:
        for name, title, cosine in found:
            print_json({kind: name, **({"title": title} if title else {}), "cosine": cosine})
        return
    from rich.table import Table

    from semascope.cli.render.charts import Bar

    table = Table(box=None, header_style="bold")
    table.add_column("cosine", justify="right")
    table.add_column("", width=10)
    table.add_column(kind, overflow="fold")
    if any(title for _, title, _ in found):
        table.add_column("title", overflow="fold")
    for name, title, cosine in found:
        table.add_row(f"{cosine:.3f}", Bar(max(cosine, 0.0)), name, *([title] if title else []))
    console().print(table)
