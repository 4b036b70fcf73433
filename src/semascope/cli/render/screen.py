"""Rich console that sanitizes strings, styled texts and table cells as it renders them."""

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
    """Console that sanitizes and truncates all it prints.

    A string or text is one line of at most a name's length. Use `Group` for several lines, and `Parts` for longer ones.
    """

    def render_str(self, text: str, **settings: Any) -> Text:
        """Convert a string to text; also used to measure table cells."""
        return super().render_str(sanitize(text, MAX_NAME_LENGTH), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything, sanitizing its texts."""
        cast = rich_cast(renderable)
        return super().render(_sanitized_text(cast) if isinstance(cast, Text) else cast, options)


def _sanitized_text(text: Text) -> Text:
    plain = sanitize(text.plain)
    if len(plain) <= MAX_NAME_LENGTH and plain == text.plain:
        return text
    made = text.copy()
    made.plain = plain  # of the same length, so styles stay in place
    if len(plain) <= MAX_NAME_LENGTH:
        return made
    head, tail = made[: MAX_NAME_LENGTH // 2], made[len(plain) - (MAX_NAME_LENGTH - 1) // 2 :]
    return made.blank_copy().append_text(head).append(ELLIPSIS).append_text(tail)


class Parts:
    """Line of parts, each sanitized and truncated on its own, so any number of them is shown.

    Parameters
    ----------
    *parts : str, tuple of str and str, or Parts
        Texts, optionally with styles.
    separator : str, default=""
        Separator of the parts.
    style : str, default=""
        Style of the line.
    limit : int, default=MAX_NAME_LENGTH
        Maximum number of characters of a part.
    """

    def __init__(
        self, *parts: str | tuple[str, str] | Parts, separator: str = "", style: str = "", limit: int = MAX_NAME_LENGTH
    ) -> None:
        self._text = Text(separator, style).join(_text_of(part, limit) for part in parts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._text.__rich_console__(console, options)  # bypasses the console, which would cut the line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._text)


def _text_of(part: str | tuple[str, str] | Parts, limit: int) -> Text:
    if isinstance(part, Parts):
        return part._text
    text, style = (part, "") if isinstance(part, str) else part
    return Text(sanitize(text, limit), style)


def join_words(words: Iterable[str]) -> Parts:
    """Return any number of words as a line."""
    return Parts(*words, separator=" ")


def split_lines(pieces: Iterable[tuple[str, str]]) -> Group:
    """Return styled pieces of a text as a group of its lines."""
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
