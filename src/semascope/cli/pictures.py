"""Small pictures for the terminal, of block characters; of # where the terminal knows no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from semascope.cli.terminal import LONGEST_LINE, harmless

EIGHTHS_WIDE = " ▏▎▍▌▋▊▉█"
EIGHTHS_HIGH = " ▁▂▃▄▅▆▇█"
ASCII = " ...:::##"
"""One sign for each eighth, too."""
TWO_COLUMNS = 72
"""From this width on, pictures stand side by side."""
WIDEST = 120
"""Bars longer than this are no easier to compare."""
LONGEST_NAME = 18


def ascii_only(console: Console, options: ConsoleOptions) -> bool:
    """Tell a terminal that cannot be trusted with block characters."""
    return options.ascii_only or console.is_dumb_terminal


@dataclass(frozen=True)
class Bar:
    """A bar as long as a share of the room there is; something is seen of all that is not nothing."""

    share: float

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        eighths = round(8 * options.max_width * self.share)
        eighths = max(eighths, 1 if self.share > 0 else 0)
        if ascii_only(console, options):
            yield Text("#" * max(round(eighths / 8), 1 if eighths else 0), style="cyan")
        else:
            yield Text("█" * (eighths // 8) + EIGHTHS_WIDE[eighths % 8].strip(), style="cyan")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(4, options.max_width)


def bars(rows: Iterable[tuple[str, float, str]]) -> Table:
    """Rows of a name, a bar as long as the number, and what to say of it."""
    listed = list(rows)
    largest = max((number for _, number, _ in listed), default=0) or 1
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", no_wrap=True, overflow="crop")
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True)
    for name, number, said in listed:
        table.add_row(Name(name), Bar(number / largest), said)
    return table


@dataclass(frozen=True)
class Name:
    """What a bar is of, cut short where it is long."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self._cut(ascii_only(console, options)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(self._cut(ascii_only(console, options)))
        return Measurement(width, width)

    def _cut(self, in_ascii: bool) -> str:
        text = harmless(self.text, LONGEST_LINE)
        text, dots = (text.replace("–", "-"), "...") if in_ascii else (text, "…")
        if cell_len(text) <= LONGEST_NAME:
            return text
        return set_cell_size(text, LONGEST_NAME - len(dots)).rstrip() + dots


@dataclass(frozen=True)
class Curve:
    """Numbers as heights, spread over the width, with the names of the first and the last below."""

    numbers: Sequence[float]
    first: str
    last: str
    height: int = 6

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        signs = ASCII if ascii_only(console, options) else EIGHTHS_HIGH
        n, room = len(self.numbers), options.max_width
        width = room // n * n if n <= room else room  # few numbers are all equally wide
        picked = np.asarray(self.numbers, dtype=float)[np.arange(width) * n // width]
        eighths = np.ceil(8 * self.height * picked / (picked.max() or 1)).astype(int)
        for row in reversed(range(self.height)):
            yield Text("".join(signs[level] for level in np.clip(eighths - 8 * row, 0, 8)), style="cyan")
        yield Text(self.first + self.last.rjust(width - len(self.first)), style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(4, options.max_width)


def picture(title: str, said: str, *parts: RenderableType) -> Group:
    """A picture under its title and a line that says what is to be seen."""
    return Group(Text(title, style="bold"), *([Text(said, style="dim")] if said else []), *parts, "")


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side where there is room, otherwise one below the other."""

    pictures: Sequence[RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < TWO_COLUMNS:
            yield Group(*self.pictures)
            return
        table = Table.grid(padding=(0, 4, 0, 0), expand=True)
        table.add_column(ratio=1)
        table.add_column(ratio=1)
        for left in range(0, len(self.pictures), 2):
            table.add_row(*self.pictures[left : left + 2])
        table.width = min(options.max_width, WIDEST)
        yield table
