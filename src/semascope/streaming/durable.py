"""Durable learning from lines: each exactly once, even after a crash."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from semascope.errors import FormatError, InputError
from semascope.models.loading import kind_of_model, load
from semascope.models.online_labeled_lda import OnlineLabeledLDA
from semascope.models.registry import names_where
from semascope.storage import check_target, is_directory_of
from semascope.storage.facts import Fact, ListOf, Maybe, Never, Text, Whole
from semascope.storage.facts import Record as Facts
from semascope.streaming.journal import Journal
from semascope.streaming.metrics import LearnedBatch
from semascope.streaming.model_folder import LOCK, BadLines, folder_of, locked
from semascope.streaming.records import Document, Line, StreamFields, UnreadableError

if TYPE_CHECKING:
    from semascope.streaming.source import Batch, Position

MAX_JOURNAL = 1 << 28
"""Size of the journal in bytes at which the model is saved early."""


class Learned(NamedTuple):
    """Durable result of learning some lines.

    documents        documents learned in total
    lines            lines read in total
    bad              bad lines in total
    line             number of the last line in its source
    id               identifier of the last document among these lines
    now              documents among these lines
    tokens           their tokens
    log_likelihood   of these tokens, each document predicted before it was learned
    """

    documents: int
    lines: int
    bad: int
    line: int
    id: str | None
    now: int
    tokens: float
    log_likelihood: float

    @property
    def batch(self) -> LearnedBatch:
        """The documents among these lines."""
        return LearnedBatch(self.now, self.tokens, self.log_likelihood)


_FIELDS: dict[str, Fact] = {"text": ListOf(Text(), low=1), "labels": Text(), "id": Text()}
RECORD = Facts(
    {
        "source": Text(), "line": Whole(), "position": Facts(),
        "fields": Facts({**_FIELDS, "label_separator": Maybe(Text())}, others=Never()),
    }
)  # fmt: skip
"""Schema of the facts of a record."""


class DurableStream:
    """Model that learns journaled lines and is saved from time to time. Use `open_stream` to create one.

    path       directory of the model
    model      the model
    recovered  documents recovered from the journal
    saved_at   time of the last save, on the monotonic clock
    """

    def __init__(self, path: Path, model: OnlineLabeledLDA, folder: Path) -> None:
        self.path = path
        self.model = model
        self.recovered = 0
        self.saved_at = time.monotonic()
        state = model.stream_
        self._lines, self._bad, self._positions = state["lines"], state["bad"], dict(state["positions"])
        self._journal = Journal(folder, state["record"])
        self._bad_lines = BadLines(folder, state["bad_bytes"])
        self._saved: int = state["record"]

    def position(self, source: str) -> Position | None:
        """Return the position to continue a source from; None if nothing was learned from it."""
        return self._positions.get(source)

    @property
    def bad_lines(self) -> int:
        """Number of bad lines in total."""
        return int(self._bad)

    @property
    def bad_path(self) -> Path:
        """Path of the file of bad lines."""
        return self._bad_lines.path

    def learn(self, batch: Batch, source: str, fields: StreamFields) -> Learned:
        """Learn lines durably: once this returns, no crash undoes it."""
        facts = {"source": source, "line": batch.line, "position": batch.position, "fields": fields.to_dict()}
        with self._explain_disk_errors():
            self._journal.append(facts, batch.lines)
            return self._learn(facts, batch.lines)

    def save_if_due(self, seconds: float) -> bool:
        """Save the model if the last save is `seconds` ago or the journal is large; return whether it was saved."""
        due = time.monotonic() - self.saved_at >= seconds or self._journal.size >= MAX_JOURNAL
        if due and self.has_news:
            self.save()
            return True
        return False

    @property
    def has_news(self) -> bool:
        """Whether the model has learned something since it was saved."""
        return self._journal.last > self._saved

    def save(self) -> None:
        """Save the model and clear the journal."""
        with self._explain_disk_errors():
            self._save()

    def _save(self) -> None:
        self.model.stream_ = {
            "record": self._journal.last,
            "lines": self._lines,
            "bad": self._bad,
            "bad_bytes": self._bad_lines.sync(),
            "positions": dict(self._positions),
        }
        self.model.save(self.path)
        self._saved, self.saved_at = self._journal.last, time.monotonic()
        self._journal.clear()

    def recover(self) -> None:
        """Learn the records of the journal that are not in the model."""
        before = self.model.n_documents_seen_
        for record in self._journal.recover():
            if problem := RECORD.problem(record.facts, "facts"):
                msg = f"{self._journal.folder}: record {record.number:,} of the journal is invalid: {problem}."
                raise FormatError(msg)
            self._learn(record.facts, record.lines)
        self.recovered = self.model.n_documents_seen_ - before
        if self.has_news:
            self.save()

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    @contextmanager
    def _explain_disk_errors(self) -> Iterator[None]:
        """Add to disk errors that nothing is lost."""
        try:
            yield
        except OSError as error:
            reason = f"{error.strerror or error}; nothing that was acknowledged is lost, and the next start continues after it"
            raise OSError(error.errno, reason, error.filename or str(self.path)) from error

    def _learn(self, facts: dict[str, Any], lines: Sequence[Line]) -> Learned:
        documents, bad = _parse_lines(facts, lines, self._lines)
        tokens, log_likelihood = 0.0, 0.0
        if documents:
            self.model.partial_fit([one.text for one in documents], [one.labels for one in documents])
            tokens, log_likelihood = self.model.last_tokens_, self.model.last_log_likelihood_
        if bad:
            self._bad_lines.add(bad)
        self._lines += len(lines)
        self._bad += len(bad)
        self._positions[facts["source"]] = facts["position"]
        last = documents[-1].id if documents else None
        totals = (self.model.n_documents_seen_, self._lines, self._bad, facts["line"])
        return Learned(*totals, last, len(documents), tokens, log_likelihood)


def _parse_lines(facts: dict[str, Any], lines: Sequence[Line], before: int) -> tuple[list[Document], list[dict[str, Any]]]:
    """Return the documents of some lines, and reports of the bad lines."""
    fields = StreamFields.from_dict(facts["fields"])
    documents, bad = [], []
    for place, line in enumerate(lines):
        try:
            document = fields.document(line)
        except UnreadableError as error:
            number = facts["line"] - len(lines) + place + 1
            where = {"number": before + place + 1, "source": facts["source"], "line": number}
            bad.append({**where, "reason": str(error), "text": line.content.decode("utf-8", "backslashreplace")})
        else:
            documents += [document] if document else []
    return documents, bad


@contextmanager
def open_stream(path: str | Path, new: Callable[[], OnlineLabeledLDA]) -> Iterator[DurableStream]:
    """Open the model at a path, created by `new` if there is none, and recover its journal after a crash.

    Only one process at a time can do so. The model is saved on exit without an error.

    Raises
    ------
    InputError
        If another process is learning into this model, or the model is of another kind.
    FormatError
        If the path holds something else, or the journal belongs to another model.
    """
    path = Path(path).resolve()
    check_target(path, "model")
    if is_directory_of(path):  # before anything is created beside it
        _check_streams(kind_of_model(path), path)
    folder = folder_of(path)
    with locked(folder, path):
        stream = DurableStream(path, _open_model(path, folder, new), folder)
        try:
            stream.recover()
            yield stream
            if stream.has_news:
                stream.save()
        finally:
            stream.close()


def _open_model(path: Path, folder: Path, new: Callable[[], OnlineLabeledLDA]) -> OnlineLabeledLDA:
    """Load the model, or create it.

    A new model is saved before it learns anything, as the journal holds neither its parameters nor its identity.
    """
    model = load(path) if is_directory_of(path) else None
    if model is not None:
        _check_streams(type(model).__name__, path)
    if model is None or not model.stream_:
        leftovers = [entry.name for entry in folder.iterdir() if entry.name != LOCK]
        if leftovers:
            msg = (
                f"{folder}: {leftovers[0]} belongs to a model that is no longer at {path}; restore the model, or move the "
                "folder away."
            )
            raise FormatError(msg)
        model = new() if model is None else model
        model.stream_ = {"record": 0, "lines": 0, "bad": 0, "bad_bytes": 0, "positions": {}}
        model.save(path)
    return model


def _check_streams(kind: str, path: Path) -> None:
    if kind not in names_where(streams=True):
        msg = f"{path}: holds {kind}, which does not learn from a stream of labeled lines; choose another path."
        raise InputError(msg)
