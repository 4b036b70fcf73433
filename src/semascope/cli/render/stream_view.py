"""Progress of a stream: a live table on a terminal, otherwise periodic lines."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Group
from rich.live import Live
from rich.table import Table

from semascope.cli.app import pluralize
from semascope.cli.render.charts import Bar, Name
from semascope.cli.render.screen import Parts, join_words
from semascope.cli.render.terminal import MAX_LINE_LENGTH, error_console, print_json, print_text
from semascope.streaming.metrics import StreamMetrics, heaviest

if TYPE_CHECKING:
    from semascope.streaming.durable import DurableStream, Learned

HEAVIEST = 8
TOP_WORDS = 8
NEWEST = 5
MAX_NAME_LENGTH = 40
LINE_SECONDS = 5.0
TABLE_SECONDS = 0.5
MAX_TIME_SHARE = 0.05
"""Maximum fraction of the time spent on drawing."""


def format_metrics(metrics: StreamMetrics) -> str:
    """Format all metrics of a stream as one line."""
    parts = [pluralize(metrics.documents, "document"), f"{metrics.speed:,.0f} a second", _format_perplexity(metrics.perplexity)]
    parts += [pluralize(metrics.n_labels, "label"), pluralize(metrics.bad_lines, "bad line")]
    return ", ".join(part for part in parts if part)


def _format_perplexity(perplexity: float | None) -> str:
    return "" if perplexity is None else f"perplexity {perplexity:,.0f}"


class View:
    """Progress view of a stream, refreshed by `update`.

    With `as_json`, only durably learned documents are printed, as JSON lines.
    """

    def __init__(self, stream: DurableStream, *, as_json: bool) -> None:
        self.metrics = StreamMetrics()
        self.metrics.begin(stream.model.n_documents_seen_, stream.model.label_names_, stream.bad_lines)
        self._stream = stream
        self._as_json = as_json
        on_terminal = sys.stderr.isatty() and not as_json
        self._live = Live(console=error_console(), auto_refresh=False, transient=True) if on_terminal else None
        self._next = time.monotonic() + (TABLE_SECONDS if on_terminal else LINE_SECONDS)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        if self._as_json and self._stream.recovered:
            _acknowledge({"learned": self.metrics.documents, "recovered": self._stream.recovered})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def notify(self, sentence: str) -> None:
        """Print a message."""
        if self._live:
            self._live.console.print(Parts(f"semascope: {sentence}", limit=MAX_LINE_LENGTH))
        else:
            print_text(f"semascope: {sentence}")

    def update(self, learned: Learned | None) -> None:
        """Acknowledge learned documents, and refresh the view when it is due."""
        if learned:
            self.metrics.add(learned.documents, self._stream.model.label_names_, learned.batch, learned.bad)
            if self._as_json:
                where = {"line": learned.line, "id": learned.id}
                _acknowledge({"learned": learned.documents, **where, "lines": learned.lines, "bad": learned.bad})
        began = time.monotonic()
        if self._as_json or began < self._next:
            return
        if self._live:
            self._live.update(self._table(), refresh=True)
            spent = time.monotonic() - began
            self._next = began + max(TABLE_SECONDS, spent / MAX_TIME_SHARE)
        else:
            print_text(format_metrics(self.metrics))
            self._next = began + LINE_SECONDS

    def _table(self) -> Group:
        metrics, new = self.metrics, self.metrics.new_labels
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", justify="right")
        grid.add_column()
        grid.add_row("documents", f"{metrics.documents:,}, {metrics.speed:,.0f} a second")
        if metrics.perplexity is not None:
            grid.add_row("perplexity", f"{metrics.perplexity:,.0f} of the last documents, before learning them")
        newest = Parts(*new[:NEWEST], *(["…"] if len(new) > NEWEST else []), separator=", ", limit=MAX_NAME_LENGTH)
        labels = f"{metrics.n_labels:,}, {len(new):,} of them new"
        grid.add_row("labels", Parts(f"{labels}: ", newest) if new else labels)
        grid.add_row("bad lines", f"{metrics.bad_lines:,}")
        grid.add_row("last saved", f"{time.monotonic() - self._stream.saved_at:.0f} seconds ago")
        return Group(grid, "", heaviest_labels(self._stream.model))


def heaviest_labels(model: Any) -> Table:
    """Return a table of the labels with the most words."""
    table = Table(box=None, header_style="bold", expand=True)
    table.add_column("label", style="cyan", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", width=10)
    table.add_column("most probable words", overflow="ellipsis", no_wrap=True, ratio=1)
    if not model.label_names_:
        return table
    shares = model.label_shares_[: len(model.label_names_)]
    order = heaviest(shares, HEAVIEST).tolist()
    for label in order:
        name = model.label_names_[label]
        words = join_words(model.top_words(name, TOP_WORDS))
        table.add_row(Name(name), f"{shares[label]:.1%}", Bar(shares[label] / max(shares[order[0]], 1e-300)), words)
    return table


def _acknowledge(line: dict[str, Any]) -> None:
    print_json(line)
    sys.stdout.flush()
