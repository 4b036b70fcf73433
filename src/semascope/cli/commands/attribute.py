"""semascope attribute MODEL TEXT"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semascope.cli.app import AsJson, ModelPath, command, standard_input
from semascope.cli.render.terminal import console, print_json, print_next_step, print_text, readable

if TYPE_CHECKING:
    from semascope.inference.attribution import AttributedWord

STANDARD_INPUT = "-"
COLORS = ("bright_blue", "bright_yellow", "bright_green", "bright_magenta", "bright_cyan", "bright_red")
"""Of the labels that most words are due to; where there are more, the rest share one look."""


@command
def attribute(
    model: ModelPath,
    text: Annotated[str, typer.Argument(metavar="TEXT", help='A text; "-" reads it from standard input.')],
    label: Annotated[
        list[str] | None, typer.Option(help="A label of the text; may be repeated. By default those that are predicted.")
    ] = None,
    passage: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Show only the passage that shows this label best.")
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="Words of that passage.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Tell which label each word of TEXT is due to."""
    from semascope.models.loading import load_labels

    fitted = load_labels(model)
    whole = standard_input().read() if text == STANDARD_INPUT else readable(text)
    if passage is not None:
        found = fitted.snippet(whole, passage, words)
        print_json({"label": passage, "passage": found}) if as_json else _show_passage(found)
        return
    due = fitted.attribute(whole, label or None)
    if as_json:
        print_json({"words": [{**word._asdict(), "weight": round(word.weight, 6)} for word in due]})
        return
    if not any(word.label for word in due):
        print_text("The model knows no word of the text: nothing can be said of it.")
        raise typer.Exit(code=1)
    _show(whole, due)
    print_next_step(["semascope", "topics", model], ["semascope", "attribute", model, "TEXT", "--passage", "LABEL"])


def _show_passage(text: str) -> None:
    from semascope.cli.render.screen import text_in_lines

    console().print(text_in_lines((word, "") for word in re.split(r"(\s+)", text)))


def _show(text: str, due: Sequence[AttributedWord]) -> None:
    """The text with every word in the color of its label, and what the colors mean."""
    from semascope.cli.render.screen import text_in_lines

    counts: dict[str, int] = {}
    for word in due:
        if word.label:
            counts[word.label] = counts.get(word.label, 0) + 1
    order = sorted(counts, key=lambda name: -counts[name])
    looks = {name: COLORS[place] if place < len(COLORS) else "underline" for place, name in enumerate(order)}
    out = console()
    out.print(text_in_lines(_colored(text, due, looks)))
    out.print(_legend(due, order, looks, counts))


def _colored(text: str, due: Sequence[AttributedWord], looks: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Take the text apart, into words and what is between them."""
    end = 0
    for word in due:
        yield text[end : word.start], ""
        yield text[word.start : word.end], f"bold {looks[word.label]}" if word.label else ""
        end = word.end
    yield text[end:], ""


def _legend(due: Sequence[AttributedWord], order: list[str], looks: dict[str, str], counts: dict[str, int]) -> Any:
    from rich.table import Table

    from semascope.cli.render.screen import Parts, words_in_a_line

    table = Table(box=None, header_style="bold")
    table.add_column("label", overflow="fold")
    table.add_column("words", justify="right")
    table.add_column("those that are most surely due to it", overflow="fold")
    for name in order:
        own = {word.word.lower(): word.weight for word in sorted(due, key=lambda word: word.weight) if word.label == name}
        surest = sorted(own, key=lambda word: -own[word])[:8]
        table.add_row(Parts((name, f"bold {looks[name]}")), f"{counts[name]:,}", words_in_a_line(surest))
    return table
