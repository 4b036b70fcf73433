"""Online learning while serving: one thread learns posted documents durably, others read snapshots."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from semascope.explorer.errors import RefusedError, UnavailableError
from semascope.explorer.schemas import Status
from semascope.streaming.metrics import StreamMetrics

if TYPE_CHECKING:
    from semascope.explorer.service.snapshot import Snapshot
    from semascope.models.online_labeled_lda import OnlineLabeledLDA
    from semascope.streaming.durable import Learned
    from semascope.streaming.records import Line
    from semascope.streaming.source import Batch

SOURCE = "api"
"""Name of posted documents in the journal."""
AT_ONCE = 256
"""Maximum number of documents per journal batch."""
MAX_WAITING = 400
"""Maximum number of pending requests."""
PUBLISH_SECONDS = 1.0
"""Seconds between published snapshots."""
SAVE_SECONDS = 30.0
_A_MOMENT = 0.02


class Posted(NamedTuple):
    """Lines posted together, and the future of their result."""

    lines: list[Line]
    done: Future[int]


class PostedLines:
    """Source of posted lines: any thread may put lines, and one takes them.

    line   number of the last line taken
    """

    name = SOURCE

    def __init__(self) -> None:
        self.line = 0
        self._waiting: Queue[Posted] = Queue(MAX_WAITING)
        self._taken: list[Posted] = []
        self._closing = Event()

    @property
    def is_closing(self) -> bool:
        """True if no more lines are accepted."""
        return self._closing.is_set()

    def put(self, posted: Posted) -> None:
        """Add lines to the queue; raise `Full` if there are too many."""
        self._waiting.put_nowait(posted)

    def empty(self) -> bool:
        """Return whether the queue is empty."""
        return self._waiting.empty()

    def close(self) -> None:
        """Close the source once the queue is empty."""
        self._closing.set()

    def take(self) -> Batch | None:
        """Return the next batch, after a short wait; None once closed and empty."""
        from semascope.streaming.source import Batch

        if self._closing.is_set() and self._waiting.empty():
            return None
        # Requests canceled before this point are dropped; later ones can no longer be withdrawn.
        self._taken = [posted for posted in self._next() if posted.done.set_running_or_notify_cancel()]
        lines = [line for posted in self._taken for line in posted.lines]
        self.line += len(lines)
        return Batch(lines, self.line, {"line": self.line})

    def _next(self) -> list[Posted]:
        taken: list[Posted] = []
        with suppress(Empty):
            taken.append(self._waiting.get(timeout=0.1))
            while sum(len(one.lines) for one in taken) < AT_ONCE:
                taken.append(self._waiting.get_nowait())
        return taken

    def acknowledge(self) -> None:
        """Resolve the futures of the lines taken."""
        for posted in self._taken:
            posted.done.set_result(len(posted.lines))
        self._taken = []

    def refuse(self, error: Exception) -> None:
        """Fail the futures of all lines that are not learned yet."""
        while not self._waiting.empty():
            posted = self._waiting.get_nowait()
            if posted.done.set_running_or_notify_cancel():
                self._taken.append(posted)
        for posted in self._taken:
            posted.done.set_exception(UnavailableError(str(error)))
        self._taken = []


class Learner:
    """Online learner of posted documents, exactly once and durably.

    Readers see immutable snapshots of the model. The learning thread publishes a new one at most once a second, so neither
    side waits for the other.

    Parameters
    ----------
    path : path
        Directory of an `OnlineLabeledLDA`.
    corpus, index : path, optional
        Corpus and index to show.
    failed : function
        Callback invoked when the model can no longer be opened or written.
    """

    def __init__(
        self,
        path: Path,
        corpus: Path | None = None,
        index: Path | None = None,
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        self.path = path
        self.progress = StreamMetrics()
        self._corpus, self._index, self._failed = corpus, index, failed
        self._posted = PostedLines()
        self._now: Snapshot | None = None
        self._published, self._has_news = 0.0, False
        self._error: Exception | None = None
        self._thread = Thread(target=self._work, name="learner")

    def start(self) -> None:
        """Start the learning thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop after learning all posted documents and saving the model."""
        self._posted.close()
        if self._thread.is_alive():
            self._thread.join()

    # --- requests ------------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Status of the model: "ok", "loading" or "missing"."""
        return "ok" if self._now is not None else "missing" if self._error is not None else "loading"

    def known(self) -> Snapshot | None:
        """Return the current snapshot, if any."""
        return self._now

    async def explored(self) -> Snapshot:
        """Return a snapshot of the model at most a second old."""
        while self._now is None and self._error is None:
            await asyncio.sleep(_A_MOMENT)
        if self._now is None:
            raise UnavailableError(str(self._error))
        return self._now

    overview = explored

    async def learn(self, documents: Sequence[dict[str, Any]]) -> int:
        """Learn documents; they are durable when this returns."""
        await self.explored()
        posted = Posted([_to_line(document) for document in documents], Future())
        if self._error is not None or self._posted.is_closing:
            raise UnavailableError(str(self._error or "the server is shutting down."))
        try:
            self._posted.put(posted)
        except Full:
            msg = "server busy: too many concurrent requests; try again in a moment."
            raise UnavailableError(msg) from None
        return await asyncio.wrap_future(posted.done)

    # --- learning thread -----------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        from semascope.models.online_labeled_lda import OnlineLabeledLDA
        from semascope.streaming.durable import open_stream
        from semascope.streaming.loop import run
        from semascope.streaming.records import StreamFields

        try:
            with open_stream(self.path, lambda: OnlineLabeledLDA(random_state=0)) as stream:
                model, posted = stream.model, self._posted
                self.progress.begin(model.n_documents_seen_, model.label_names_)
                self._publish(model)
                posted.line = (stream.position(SOURCE) or {"line": 0})["line"]
                run(stream, posted, StreamFields(), save_seconds=SAVE_SECONDS, watch=partial(self._acknowledge, model))
        except Exception as error:  # no request may wait forever
            self._error = error
            self._posted.refuse(error)
            if self._failed is not None:
                self._failed(error)

    def _acknowledge(self, model: OnlineLabeledLDA, learned: Learned | None) -> None:
        """Acknowledge learned documents, and publish a snapshot when it is due."""
        if learned is not None:
            self.progress.add(learned.documents, model.label_names_, learned.batch)
            self._has_news = True
        self._posted.acknowledge()  # also for posts without documents
        if self._has_news and time.monotonic() - self._published >= PUBLISH_SECONDS:
            self._publish(model)

    def _publish(self, model: OnlineLabeledLDA) -> None:
        from semascope.explorer.service.snapshot import Snapshot
        from semascope.explorer.service.warmup import prepare

        if self._now is not None:
            self._now = self._now.with_model(model.snapshot())
        else:
            first = Snapshot.of(model.snapshot(), self._corpus)
            prepare(first, self.path, self._index)
            self._now = first
        self._published, self._has_news = time.monotonic(), False


def _to_line(document: dict[str, Any]) -> Line:
    """Convert a document to a journal line, or raise an error if it cannot be learned."""
    from semascope.streaming.records import Line, StreamFields, UnreadableError

    line = Line(json.dumps(document, ensure_ascii=False).encode())
    try:
        StreamFields().document(line)
    except UnreadableError as error:
        msg = f"a document cannot be learned: {error}."
        raise RefusedError(msg) from None
    return line
