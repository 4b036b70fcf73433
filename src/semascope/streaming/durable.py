"""A model that learns from lines, each exactly once whatever is cut off."""

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
"""Bytes after which the model is saved before it is time."""


class Learned(NamedTuple):
    """What is so after some lines: no crash takes it away.

    documents        documents that the model has learned, ever
    lines            lines that were taken, ever
    bad              lines that were set aside, ever
    line             number of the last line in its source
    id               of the last document among these lines
    now              documents among these lines
    tokens           words in them
    log_likelihood   of these words, by what was known before each document
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
"""What the facts of a record may be."""


class DurableStream:
    """Journals lines, has a model learn them, and saves it now and then. See `opened`.

    path       the model's directory
    model      the model
    recovered  documents that were learned from the journal again
    saved_at   when the model was last saved, on the monotonic clock
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
        """Where to go on in a source; None when nothing was learned from it."""
        return self._positions.get(source)

    @property
    def bad_lines(self) -> int:
        """Lines that were set aside, ever."""
        return int(self._bad)

    @property
    def bad_path(self) -> Path:
        """The file that they are in."""
        return self._bad_lines.path

    def learn(self, batch: Batch, source: str, fields: StreamFields) -> Learned:
        """Learn lines; when this returns, they are learned for good."""
        facts = {"source": source, "line": batch.line, "position": batch.position, "fields": fields.to_dict()}
        with self._safely():
            self._journal.append(facts, batch.lines)
            return self._learn(facts, batch.lines)

    def save_if_due(self, seconds: float) -> bool:
        """Save the model when so much time has passed since the last time, or when the journal has become large."""
        due = time.monotonic() - self.saved_at >= seconds or self._journal.size >= MAX_JOURNAL
        if due and self.has_news:
            self.save()
            return True
        return False

    @property
    def has_news(self) -> bool:
        """Tell whether something was learned since the model was saved."""
        return self._journal.last > self._saved

    def save(self) -> None:
        """Save the model; the journal begins anew."""
        with self._safely():
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
        self._journal.begin_anew()

    def recover(self) -> None:
        """Learn what is in the journal and not in the model."""
        before = self.model.n_documents_seen_
        for record in self._journal.recover():
            if problem := RECORD.problem(record.facts, "facts"):
                msg = f"{self._journal.folder}: record {record.number:,} of the journal cannot be learned: {problem}."
                raise FormatError(msg)
            self._learn(record.facts, record.lines)
        self.recovered = self.model.n_documents_seen_ - before
        if self.has_news:
            self.save()

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    @contextmanager
    def _safely(self) -> Iterator[None]:
        """Say that nothing is lost when the disk is full or cannot be written to."""
        try:
            yield
        except OSError as error:
            reason = f"{error.strerror or error}; nothing that was acknowledged is lost, and the next start goes on after it"
            raise OSError(error.errno, reason, error.filename or str(self.path)) from error

    def _learn(self, facts: dict[str, Any], lines: Sequence[Line]) -> Learned:
        documents, bad = _sorted(facts, lines, self._lines)
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
        so_far = (self.model.n_documents_seen_, self._lines, self._bad, facts["line"])
        return Learned(*so_far, last, len(documents), tokens, log_likelihood)


def _sorted(facts: dict[str, Any], lines: Sequence[Line], before: int) -> tuple[list[Document], list[dict[str, Any]]]:
    """Return the documents in lines, and what is to be said of the lines that hold none."""
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
    """Open the model at a path, made by `new` if there is none, and learn what a crash left in its journal.

    Only one process can do so at a time. At the end without an error the model is saved.

    Raises
    ------
    InputError
        When another process learns into this model, or when another kind of model is there.
    FormatError
        When something else is there, or the journal is not that of the model.
    """
    path = Path(path).resolve()
    check_target(path, "model")
    if is_directory_of(path):  # before anything is made beside it
        _check_learns(kind_of_model(path), path)
    folder = folder_of(path)
    with locked(folder, path):
        stream = DurableStream(path, _model_at(path, folder, new), folder)
        try:
            stream.recover()
            yield stream
            if stream.has_news:
                stream.save()
        finally:
            stream.close()


def _model_at(path: Path, folder: Path, new: Callable[[], OnlineLabeledLDA]) -> OnlineLabeledLDA:
    """Load the model, or make it.

    It is saved before it learns anything: the journal does not tell its settings, and is known as its own only then.
    """
    model = load(path) if is_directory_of(path) else None
    if model is not None:
        _check_learns(type(model).__name__, path)
    if model is None or not model.stream_:
        left = [entry.name for entry in folder.iterdir() if entry.name != LOCK]
        if left:
            msg = f"{folder}: {left[0]} is of a model that is no longer at {path}; put that back, or move the folder away."
            raise FormatError(msg)
        model = new() if model is None else model
        model.stream_ = {"record": 0, "lines": 0, "bad": 0, "bad_bytes": 0, "positions": {}}
        model.save(path)
    return model


def _check_learns(kind: str, path: Path) -> None:
    if kind not in names_where(streams=True):
        msg = f"{path}: holds {kind}, which does not learn from a stream of labeled lines; give another path."
        raise InputError(msg)
