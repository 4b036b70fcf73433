"""What rich prints, made harmless as it is rendered: strings, styled texts, and cells of tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.protocol import rich_cast
from rich.segment import Segment
from rich.text import Text

from semascope.cli.render.sanitize import ELLIPSIS, MAX_LINE_LENGTH, MAX_NAME_LENGTH, sanitize


class Screen(Console):
    """A console that prints nothing but what is harmless, and no string that has no end.

    A string or text is one line, of a name's length. Several lines are a `Group`; a line that may be longer is made of `Parts`.
    """

    def render_str(self, text: str, **settings: Any) -> Text:
        """Make a text of a string; cells of tables are measured by it, too."""
        return super().render_str(sanitize(text, MAX_NAME_LENGTH), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything, inside of which there may be texts that somebody else made."""
        cast = rich_cast(renderable)
        return super().render(_harmless_text(cast) if isinstance(cast, Text) else cast, options)


def _harmless_text(text: Text) -> Text:
    plain = sanitize(text.plain)
    if len(plain) <= MAX_NAME_LENGTH and plain == text.plain:
        return text
    made = text.copy()
    made.plain = plain  # as long as before, so that styles stay where they are
    if len(plain) <= MAX_NAME_LENGTH:
        return made
    head, tail = made[: MAX_NAME_LENGTH // 2], made[len(plain) - (MAX_NAME_LENGTH - 1) // 2 :]
    return made.blank_copy().append_text(head).append(ELLIPSIS).append_text(tail)


class Parts:
    """A line of parts, each of which is made harmless and cut by itself, so that there may be any number of them.

    Parameters
    ----------
    *parts : str, tuple of str and str, or Parts
        Texts, with their styles if they have any.
    separator : str, default=""
        What stands between them.
    style : str, default=""
        Style of all of it.
    limit : int, default=MAX_NAME_LENGTH
        The most characters of a part.
    """

    def __init__(
        self, *parts: str | tuple[str, str] | Parts, separator: str = "", style: str = "", limit: int = MAX_NAME_LENGTH
    ) -> None:
        self._text = Text(separator, style).join(_text_of(part, limit) for part in parts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._text.__rich_console__(console, options)  # not by way of the console, which would cut the line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._text)


def _text_of(part: str | tuple[str, str] | Parts, limit: int) -> Text:
    if isinstance(part, Parts):
        return part._text
    text, style = (part, "") if isinstance(part, str) else part
    return Text(sanitize(text, limit), style)


def words_in_a_line(words: Iterable[str]) -> Parts:
    """Put words into a line, however many there are."""
    return Parts(*words, separator=" ")


def text_in_lines(pieces: Iterable[tuple[str, str]]) -> Group:
    """Show a text as its lines are, from pieces of it with their styles."""
    return Group(*(Parts(*line, limit=MAX_LINE_LENGTH) for line in _lines(pieces)))


def _lines(pieces: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    line: list[tuple[str, str]] = []
    for text, style in pieces:
        first, *others = text.split("\n")
        line.append((first, style))
        for other in others:
            yield line
            line = [(other, style)]
    yield line
