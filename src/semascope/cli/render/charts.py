"""Terminal charts of block characters, or of ASCII where the terminal supports no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from semascope.cli.render.terminal import MAX_LINE_LENGTH, sanitize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.model_selection import Trial


EIGHTHS_WIDE = " ▏▎▍▌▋▊▉█"
EIGHTHS_HIGH = " ▁▂▃▄▅▆▇█"
ASCII = " ...:::##"
"""One character per eighth, like the above."""
TWO_COLUMNS = 72
"""Minimum width to show charts side by side."""
MAX_BAR_WIDTH = 120
"""Maximum width of a gallery; longer bars are no easier to compare."""
MAX_NAME_LENGTH = 18


def ascii_only(console: Console, options: ConsoleOptions) -> bool:
    """Return whether the terminal lacks block characters."""
    return options.ascii_only or console.is_dumb_terminal


@dataclass(frozen=True)
class Bar:
    """Bar whose length is a share of the width; positive shares are always visible."""

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
    """Return a table with a name, a proportional bar and a text per row."""
    listed = list(rows)
    largest = max((number for _, number, _ in listed), default=0) or 1
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(justify="right", no_wrap=True, overflow="crop")
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True)
    for name, number, text in listed:
        table.add_row(Name(name), Bar(number / largest), text)
    return table


@dataclass(frozen=True)
class Name:
    """Name of a bar, truncated if long."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self._cut(ascii_only(console, options)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(self._cut(ascii_only(console, options)))
        return Measurement(width, width)

    def _cut(self, in_ascii: bool) -> str:
        text = sanitize(self.text, MAX_LINE_LENGTH)
        text, dots = (text.replace("–", "-"), "...") if in_ascii else (text, "…")
        if cell_len(text) <= MAX_NAME_LENGTH:
            return text
        return set_cell_size(text, MAX_NAME_LENGTH - len(dots)).rstrip() + dots


@dataclass(frozen=True)
class Curve:
    """Area chart of numbers over the full width, with the names of the first and the last below."""

    numbers: Sequence[float]
    first: str
    last: str
    height: int = 6

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        signs = ASCII if ascii_only(console, options) else EIGHTHS_HIGH
        n, room = len(self.numbers), options.max_width
        width = room // n * n if n <= room else room  # a few numbers get equal widths
        picked = np.asarray(self.numbers, dtype=float)[np.arange(width) * n // width]
        eighths = np.ceil(8 * self.height * picked / (picked.max() or 1)).astype(int)
        for row in reversed(range(self.height)):
            yield Text("".join(signs[level] for level in np.clip(eighths - 8 * row, 0, 8)), style="cyan")
        yield Text(self.first + self.last.rjust(width - len(self.first)), style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(4, options.max_width)


def chart(title: str, subtitle: str, *parts: RenderableType) -> Group:
    """Return a chart under its title and subtitle."""
    return Group(Text(title, style="bold"), *([Text(subtitle, style="dim")] if subtitle else []), *parts, "")


@dataclass(frozen=True)
class Gallery:
    """Charts side by side if the terminal is wide enough, otherwise one below the other."""

    charts: Sequence[RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < TWO_COLUMNS:
            yield Group(*self.charts)
            return
        table = Table.grid(padding=(0, 4, 0, 0), expand=True)
        table.add_column(ratio=1)
        table.add_column(ratio=1)
        for left in range(0, len(self.charts), 2):
            table.add_row(*self.charts[left : left + 2])
        table.width = min(options.max_width, MAX_BAR_WIDTH)
        yield table


MAX_PLOT_WIDTH = 64
SIGNS = ("●", "·", "│", "─", "└")
ASCII_SIGNS = ("*", ".", "|", "-", "+")


@dataclass(frozen=True)
class Line:
    """Line chart with a logarithmic horizontal axis, which suits times and numbers of topics.

    Parameters
    ----------
    x, y : sequences of float
        The points, x ascending and above 0.
    x_name, y_name : callables
        Number formats of the axes.
    height : int, default=9
        Number of rows.
    """

    x: Sequence[float]
    y: Sequence[float]
    x_name: Callable[[float], str]
    y_name: Callable[[float], str]
    height: int = 9

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        point, between, side, below, corner = ASCII_SIGNS if ascii_only(console, options) else SIGNS
        top, bottom = self.y_name(max(self.y)), self.y_name(min(self.y))
        margin = max(len(top), len(bottom))
        width = max(min(options.max_width, MAX_PLOT_WIDTH) - margin - 2, 8)
        columns, rows = _scaled(np.log(self.x), width), _scaled(np.asarray(self.y), self.height)
        signs = np.full((self.height, width), " ")
        across = np.arange(columns[0], columns[-1] + 1)
        signs[np.rint(np.interp(across, columns, rows)).astype(int), across] = between
        signs[rows, columns] = point
        for row in reversed(range(self.height)):
            name = top if row == self.height - 1 else bottom if row == 0 and top != bottom else ""
            yield Text.assemble((f"{name:>{margin}} {side}", "dim"), ("".join(signs[row]), "cyan"))
        yield Text(f"{'':>{margin}} {corner}{below * width}", style="dim")
        yield Text(" " * (margin + 2) + self._names_below(columns, width), style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(20, options.max_width)

    def _names_below(self, columns: NDArray[np.int64], width: int) -> str:
        """Return the axis labels: the first, the last, and those between that fit."""
        line, last = [" "] * (width + 1), len(columns) - 1
        for i in (0, last, *range(1, last)):
            name = self.x_name(self.x[i])
            start = min(max(int(columns[i]) - len(name) // 2, 0), max(width - len(name), 0))
            if all(sign == " " for sign in line[max(start - 1, 0) : start + len(name) + 1]):
                line[start : start + len(name)] = name
        return "".join(line).rstrip()


def _scaled(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Map values to cells from 0 to n - 1; equal values all to the middle one."""
    low, high = values.min(), values.max()
    if high == low:
        return np.full(len(values), (n - 1) // 2)
    return np.asarray(np.rint((values - low) / (high - low) * (n - 1)).astype(np.int64))


def heldout_table(path: Sequence[Sequence[float]]) -> Table:
    """Return a table of held-out perplexity, with the model's own prior, by iteration and seconds."""
    table = Table(box=None, header_style="bold")
    for name in ("iteration", "seconds", "held-out perplexity, own prior"):
        table.add_column(name, justify="right")
    for iteration, seconds, perplexity in path:
        table.add_row(f"{iteration:,.0f}", f"{seconds:,.2f}", f"{perplexity:,.1f}")
    return table


def heldout_chart(path: Sequence[Sequence[float]]) -> RenderableType:
    """Return a line chart of held-out perplexity against time."""
    _, seconds, perplexities = zip(*path, strict=True)
    line = Line([max(s, 1e-6) for s in seconds], perplexities, lambda s: f"{s:.3g} s", lambda p: f"{p:,.0f}")
    return chart("Held-out perplexity, own prior", "by seconds of training", line)


def sweep_charts(trials: Sequence[Trial]) -> list[RenderableType]:
    """Return line charts of held-out perplexity and coherence against the number of topics."""
    from semascope.model_selection import by_topics

    topics, perplexities, coherences = zip(*by_topics(trials), strict=True)
    return [
        chart("Held-out perplexity", "by topics; lower is better", Line(topics, perplexities, str, lambda p: f"{p:,.0f}")),
        chart("Coherence (npmi)", "by topics; higher is better", Line(topics, coherences, str, lambda c: f"{c:.3f}")),
    ]
