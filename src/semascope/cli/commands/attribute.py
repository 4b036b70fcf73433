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
"""Of the labels with most words; all others share one style."""


@command
def attribute(
    model: ModelPath,
    text: Annotated[str, typer.Argument(metavar="TEXT", help='Text to attribute; "-" reads it from standard input.')],
    label: Annotated[
        list[str] | None, typer.Option(help="Label of the text; may be repeated. By default, the predicted labels.")
    ] = None,
    passage: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Show only the passage most characteristic of this label.")
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="Length of that passage in words.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Assign each word of TEXT to one of its labels."""
    from semascope.models.loading import load_labels

    fitted = load_labels(model)
    whole = standard_input().read() if text == STANDARD_INPUT else readable(text)
    if passage is not None:
        found = fitted.snippet(whole, passage, words)
        print_json({"label": passage, "passage": found}) if as_json else _show_passage(found)
        return
    attributed = fitted.attribute(whole, label or None)
    if as_json:
        print_json({"words": [{**word._asdict(), "weight": round(word.weight, 6)} for word in attributed]})
        return
    if not any(word.label for word in attributed):
        print_text("The text contains no word of the model's vocabulary.")
        raise typer.Exit(code=1)
    _show(whole, attributed)
    print_next_step(["semascope", "topics", model], ["semascope", "attribute", model, "TEXT", "--passage", "LABEL"])


def _show_passage(text: str) -> None:
    from semascope.cli.render.screen import split_lines

    console().print(split_lines((word, "") for word in re.split(r"(\s+)", text)))


def _show(text: str, attributed: Sequence[AttributedWord]) -> None:
    """Print the text with every word in the color of its label, and a legend."""
    from semascope.cli.render.screen import split_lines

    counts: dict[str, int] = {}
    for word in attributed:
        if word.label:
            counts[word.label] = counts.get(word.label, 0) + 1
    order = sorted(counts, key=lambda name: -counts[name])
    looks = {name: COLORS[place] if place < len(COLORS) else "underline" for place, name in enumerate(order)}
    out = console()
    out.print(split_lines(_colored(text, attributed, looks)))
    out.print(_legend(attributed, order, looks, counts))


def _colored(text: str, attributed: Sequence[AttributedWord], looks: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the words of a text and the pieces between them, with their styles."""
    end = 0
    for word in attributed:
        yield text[end : word.start], ""
        yield text[word.start : word.end], f"bold {looks[word.label]}" if word.label else ""
        end = word.end
    yield text[end:], ""


def _legend(attributed: Sequence[AttributedWord], order: list[str], looks: dict[str, str], counts: dict[str, int]) -> Any:
    from rich.table import Table

    from semascope.cli.render.screen import Parts, join_words

    table = Table(box=None, header_style="bold")
    table.add_column("label", overflow="fold")
    table.add_column("words", justify="right")
    table.add_column("assigned with most certainty", overflow="fold")
    for name in order:
        own = {
            word.word.lower(): word.weight for word in sorted(attributed, key=lambda word: word.weight) if word.label == name
        }
        surest = sorted(own, key=lambda word: -own[word])[:8]
        table.add_row(Parts((name, f"bold {looks[name]}")), f"{counts[name]:,}", join_words(surest))
    return table
