"""What people see of a stream while it is learned: a live table on a terminal, otherwise a line now and then."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Group
from rich.live import Live
from rich.table import Table

from semascope.cli.app import counted
from semascope.cli.pictures import Bar, Name
from semascope.cli.screen import Parts, words_in_a_line
from semascope.cli.terminal import LONGEST_LINE, error_console, print_json, tell

if TYPE_CHECKING:
    from semascope.streaming.learning import DurableStream, Learned

HEAVIEST = 8
TOP_WORDS = 8
NEWEST = 5
LONGEST_NAME = 40
SPEED_SECONDS = 5.0
RECENT_DOCUMENTS = 1000
"""Perplexity is that of so many documents, or a few more."""
LINE_SECONDS = 5.0
TABLE_SECONDS = 0.5
MOST_OF_THE_TIME = 0.05
"""Drawing takes no larger share of the time than this."""


class Figures:
    """What is told of a stream: how fast it goes, and how well documents are predicted before they are learned."""

    def __init__(self, stream: DurableStream) -> None:
        self.model = stream.model
        self.first = self.model.n_documents_seen_
        self.first_labels = len(self.model.label_names_)
        self._path: deque[tuple[float, int]] = deque([(time.monotonic(), self.first)])
        self._recent: deque[Learned] = deque()
        self._n_recent = 0

    def add(self, learned: Learned) -> None:
        """Note what was learned."""
        self._recent.append(learned)
        self._n_recent += learned.now
        while self._n_recent - self._recent[0].now >= RECENT_DOCUMENTS:
            self._n_recent -= self._recent.popleft().now

    @property
    def documents(self) -> int:
        """All documents that the model has learned."""
        return int(self.model.n_documents_seen_)

    @property
    def new_labels(self) -> list[str]:
        """Labels met since the start, the newest first."""
        return list(reversed(self.model.label_names_[self.first_labels :]))

    @property
    def speed(self) -> float:
        """Documents a second in the last seconds."""
        now = time.monotonic()
        self._path.append((now, self.documents))
        while len(self._path) > 2 and now - self._path[1][0] > SPEED_SECONDS:
            self._path.popleft()
        began, documents = self._path[0]
        return (self.documents - documents) / max(now - began, 1e-9)

    @property
    def perplexity(self) -> float | None:
        """Of recent documents, each before it was learned; None when there were no words."""
        tokens = sum(one.tokens for one in self._recent)
        return math.exp(-sum(one.log_likelihood for one in self._recent) / tokens) if tokens else None

    def sentence(self, bad: int) -> str:
        """All of it in one line."""
        parts = [counted(self.documents, "document"), f"{self.speed:,.0f} a second", _said(self.perplexity)]
        parts += [counted(len(self.model.label_names_), "label"), counted(bad, "bad line")]
        return ", ".join(part for part in parts if part)


def _said(perplexity: float | None) -> str:
    return "" if perplexity is None else f"perplexity {perplexity:,.0f}"


class View:
    """Shows how a stream is getting on; `watch` is called again and again.

    With `as_json`, what is learned for good is printed line by line for programs, and nothing else.
    """

    def __init__(self, stream: DurableStream, *, as_json: bool) -> None:
        self.figures = Figures(stream)
        self._stream = stream
        self._as_json = as_json
        on_terminal = sys.stderr.isatty() and not as_json
        self._live = Live(console=error_console(), auto_refresh=False, transient=True) if on_terminal else None
        self._next = time.monotonic() + (TABLE_SECONDS if on_terminal else LINE_SECONDS)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        if self._as_json and self._stream.recovered:
            _acknowledge({"learned": self.figures.documents, "recovered": self._stream.recovered})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def say(self, sentence: str) -> None:
        """Say something that people should know."""
        if self._live:
            self._live.console.print(Parts(f"semascope: {sentence}", limit=LONGEST_LINE))
        else:
            tell(f"semascope: {sentence}")

    def watch(self, learned: Learned | None) -> None:
        """Acknowledge what was learned, and show how it goes when it is time to."""
        if learned:
            self.figures.add(learned)
            if self._as_json:
                where = {"line": learned.line, "id": learned.id}
                _acknowledge({"learned": learned.documents, **where, "lines": learned.lines, "bad": learned.bad})
        began = time.monotonic()
        if self._as_json or began < self._next:
            return
        if self._live:
            self._live.update(self._table(), refresh=True)
            spent = time.monotonic() - began
            self._next = began + max(TABLE_SECONDS, spent / MOST_OF_THE_TIME)
        else:
            tell(self.figures.sentence(self._stream.bad_lines))
            self._next = began + LINE_SECONDS

    def _table(self) -> Group:
        figures, new = self.figures, self.figures.new_labels
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", justify="right")
        grid.add_column()
        grid.add_row("documents", f"{figures.documents:,}, {figures.speed:,.0f} a second")
        if figures.perplexity is not None:
            grid.add_row("perplexity", f"{figures.perplexity:,.0f} of the last documents, before they were learned")
        newest = Parts(*new[:NEWEST], *(["…"] if len(new) > NEWEST else []), separator=", ", limit=LONGEST_NAME)
        labels = f"{len(figures.model.label_names_):,}, {len(new):,} of them new"
        grid.add_row("labels", Parts(f"{labels}: ", newest) if new else labels)
        grid.add_row("bad lines", f"{self._stream.bad_lines:,}")
        grid.add_row("last saved", f"{time.monotonic() - self._stream.saved_at:.0f} seconds ago")
        return Group(grid, "", heaviest_labels(figures.model))


def heaviest_labels(model: Any) -> Table:
    """A table of the labels that most words are due to."""
    table = Table(box=None, header_style="bold", expand=True)
    table.add_column("label", style="cyan", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("", width=10)
    table.add_column("most probable words", overflow="ellipsis", no_wrap=True, ratio=1)
    if not model.label_names_:
        return table
    shares = model.label_shares_[: len(model.label_names_)]
    heaviest = [int(label) for label in (-shares).argsort(kind="stable")[:HEAVIEST]]
    for label in heaviest:
        name = model.label_names_[label]
        words = words_in_a_line(model.top_words(name, TOP_WORDS))
        table.add_row(Name(name), f"{shares[label]:.1%}", Bar(shares[label] / max(shares[heaviest[0]], 1e-300)), words)
    return table


def _acknowledge(line: dict[str, Any]) -> None:
    print_json(line)
    sys.stdout.flush()
