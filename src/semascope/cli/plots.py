"""Lines for the terminal: a number against another, with names on both axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from semascope.cli.pictures import ascii_only, picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semascope.judging import Trial

WIDEST = 64
SIGNS = ("●", "·", "│", "─", "└")
ASCII = ("*", ".", "|", "-", "+")


@dataclass(frozen=True)
class Line:
    """Points and what lies between them. The horizontal axis is logarithmic, for times and numbers of topics are.

    Parameters
    ----------
    x, y : sequences of float
        The points, x ascending and above 0.
    x_name, y_name : callables
        How to write a number on each axis.
    height : int, default=9
        Rows.
    """

    x: Sequence[float]
    y: Sequence[float]
    x_name: Callable[[float], str]
    y_name: Callable[[float], str]
    height: int = 9

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        point, between, side, below, corner = ASCII if ascii_only(console, options) else SIGNS
        top, bottom = self.y_name(max(self.y)), self.y_name(min(self.y))
        margin = max(len(top), len(bottom))
        width = max(min(options.max_width, WIDEST) - margin - 2, 8)
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
        """Write the first and the last number below their points, and those between for which there is room."""
        line, last = [" "] * (width + 1), len(columns) - 1
        for i in (0, last, *range(1, last)):
            name = self.x_name(self.x[i])
            start = min(max(int(columns[i]) - len(name) // 2, 0), max(width - len(name), 0))
            if all(sign == " " for sign in line[max(start - 1, 0) : start + len(name) + 1]):
                line[start : start + len(name)] = name
        return "".join(line).rstrip()


def _scaled(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Put values into cells from 0 to n - 1; all into the one in the middle when they are equal."""
    low, high = values.min(), values.max()
    if high == low:
        return np.full(len(values), (n - 1) // 2)
    return np.asarray(np.rint((values - low) / (high - low) * (n - 1)).astype(np.int64))


def heldout_table(path: Sequence[Sequence[float]]) -> Table:
    """Held-out perplexity, by the model's own prior, after iterations and seconds."""
    table = Table(box=None, header_style="bold")
    for name in ("iteration", "seconds", "held-out perplexity, own prior"):
        table.add_column(name, justify="right")
    for iteration, seconds, perplexity in path:
        table.add_row(f"{iteration:,.0f}", f"{seconds:,.2f}", f"{perplexity:,.1f}")
    return table


def heldout_picture(path: Sequence[Sequence[float]]) -> RenderableType:
    """Held-out perplexity against time."""
    _, seconds, perplexities = zip(*path, strict=True)
    line = Line([max(s, 1e-6) for s in seconds], perplexities, lambda s: f"{s:.3g} s", lambda p: f"{p:,.0f}")
    return picture("Held-out perplexity, own prior", "by seconds of training", line)


def sweep_pictures(trials: Sequence[Trial]) -> list[RenderableType]:
    """Held-out perplexity and coherence against the number of topics."""
    from semascope.judging import by_topics

    topics, perplexities, coherences = zip(*by_topics(trials), strict=True)
    return [
        picture("Held-out perplexity", "by topics; lower is better", Line(topics, perplexities, str, lambda p: f"{p:,.0f}")),
        picture("Coherence (npmi)", "by topics; higher is better", Line(topics, coherences, str, lambda c: f"{c:.3f}")),
    ]
