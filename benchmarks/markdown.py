"""Tables of numbers as Markdown, and what a benchmark prints as Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks import harness


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Make a table; numbers stand to the right."""
    signs = ["--:" if all(map(_is_number, cells)) else ":--" for cells in zip(*rows, strict=True)]
    lines = [columns, signs or [":--"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _is_number(cell: str) -> bool:
    return not cell or cell.lstrip("+-−~<≥≤ ")[:1].isdigit() or cell[0] in "∞–"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def number(value: float) -> str:
    """Write a number with three digits that count, or all digits before the point."""
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "never"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if value else "0"


def duration(seconds: float) -> str:
    """Write minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@dataclass(frozen=True)
class Recorder:
    """Stands in for a console."""

    printed: list[Any]

    def print(self, *things: Any) -> None:
        self.printed.extend(things)


def printed(show: Callable[[dict[str, Any]], None], result: Mapping[str, Any]) -> str:
    """Have a benchmark show its result, as Markdown instead of on the screen."""
    recorder, before = Recorder([]), harness.console
    harness.console = cast(Console, recorder)
    try:
        show(dict(result))
    finally:
        harness.console = before
    return "\n\n".join(_of_table(thing) if isinstance(thing, Table) else _sentence(thing) for thing in recorder.printed)


def _of_table(thing: Table) -> str:
    cells = [[str(cell) for cell in column.cells] for column in thing.columns]
    rows = list(zip(*cells, strict=True))
    return f"{_sentence(str(thing.title))}\n\n{table([str(column.header) for column in thing.columns], rows)}"


def _sentence(text: str) -> str:
    """Figures are copied from results to the report."""
    plain = Text.from_markup(text).plain.replace("results/", "report/")
    return plain.replace("*", "\\*").replace("|", "\\|")
