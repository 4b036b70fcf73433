"""Learning while serving: what is posted is learned for good by one thread, and others read what is known so far."""

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
"""What the journal calls whatever is posted."""
AT_ONCE = 256
"""Documents that are put into the journal together."""
MAX_WAITING = 400
"""Requests that wait to be learned."""
LOOK_AGAIN = 1.0
"""Seconds between the versions that readers see."""
SAVE_SECONDS = 30.0
_A_MOMENT = 0.02


class Posted(NamedTuple):
    """Lines that were posted together, and the promise to learn them."""

    lines: list[Line]
    done: Future[int]


class PostedLines:
    """What is posted, as a source of lines: any thread may put more, one takes them.

    line   number of the last line that was taken
    """

    name = SOURCE

    def __init__(self) -> None:
        self.line = 0
        self._waiting: Queue[Posted] = Queue(MAX_WAITING)
        self._taken: list[Posted] = []
        self._closing = Event()

    @property
    def is_closing(self) -> bool:
        """Tell whether no more may be posted."""
        return self._closing.is_set()

    def put(self, posted: Posted) -> None:
        """Have lines wait to be taken; `Full` when too many do."""
        self._waiting.put_nowait(posted)

    def empty(self) -> bool:
        """Tell whether nothing waits."""
        return self._waiting.empty()

    def close(self) -> None:
        """End once all that waits is taken."""
        self._closing.set()

    def take(self) -> Batch | None:
        """Wait a moment and return what was posted, as much as is learned at once; None when there will be no more."""
        from semascope.streaming.source import Batch

        if self._closing.is_set() and self._waiting.empty():
            return None
        # Whoever is gone before learning began was promised nothing; from here on nobody can take back what was posted.
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
        """Keep the promises of what was taken."""
        for posted in self._taken:
            posted.done.set_result(len(posted.lines))
        self._taken = []

    def refuse(self, error: Exception) -> None:
        """Say of all that is not learned yet why it will not be."""
        while not self._waiting.empty():
            posted = self._waiting.get_nowait()
            if posted.done.set_running_or_notify_cancel():
                self._taken.append(posted)
        for posted in self._taken:
            posted.done.set_exception(UnavailableError(str(error)))
        self._taken = []


class Learner:
    """Learns what is posted, exactly once and for good.

    Readers see versions of the model that do not change any more; a new one is made at most once a second, by the thread that
    learns, so that neither waits for the other.

    Parameters
    ----------
    path : path
        The model, an `OnlineLabeledLDA`.
    corpus, index : path, optional
        Documents to show, and an index of them.
    failed : function
        Called when the model cannot be opened or written any more.
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
        """Begin to learn."""
        self._thread.start()

    def close(self) -> None:
        """Learn what was posted, save the model, and stop."""
        self._posted.close()
        if self._thread.is_alive():
            self._thread.join()

    # --- for requests --------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Whether there is a model to answer from."""
        return "ok" if self._now is not None else "missing" if self._error is not None else "loading"

    def known(self) -> Snapshot | None:
        """What is at hand now, if anything."""
        return self._now

    async def explored(self) -> Snapshot:
        """The model as it was within the last second."""
        while self._now is None and self._error is None:
            await asyncio.sleep(_A_MOMENT)
        if self._now is None:
            raise UnavailableError(str(self._error))
        return self._now

    overview = explored

    async def learn(self, documents: Sequence[dict[str, Any]]) -> int:
        """Learn documents; when this returns, they are learned for good."""
        await self.explored()
        posted = Posted([_line(document) for document in documents], Future())
        if self._error is not None or self._posted.is_closing:
            raise UnavailableError(str(self._error or "the server is being stopped."))
        try:
            self._posted.put(posted)
        except Full:
            msg = "too many ask at once; try again in a moment."
            raise UnavailableError(msg) from None
        return await asyncio.wrap_future(posted.done)

    # --- on its own thread ---------------------------------------------------------------------------------------------------

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
                run(stream, posted, StreamFields(), save_seconds=SAVE_SECONDS, watch=partial(self._watch, model))
        except Exception as error:  # whatever it is, nobody shall wait for an answer that does not come
            self._error = error
            self._posted.refuse(error)
            if self._failed is not None:
                self._failed(error)

    def _watch(self, model: OnlineLabeledLDA, learned: Learned | None) -> None:
        """Acknowledge what was learned, and show it to readers when it is time to."""
        if learned is not None:
            self.progress.add(learned.documents, model.label_names_, learned.batch)
            self._has_news = True
        self._posted.acknowledge()  # also a post of no documents
        if self._has_news and time.monotonic() - self._published >= LOOK_AGAIN:
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


def _line(document: dict[str, Any]) -> Line:
    """A document as the journal has it, or say why it cannot be learned."""
    from semascope.streaming.records import Line, StreamFields, UnreadableError

    line = Line(json.dumps(document, ensure_ascii=False).encode())
    try:
        StreamFields().document(line)
    except UnreadableError as error:
        msg = f"a document cannot be learned: {error}."
        raise RefusedError(msg) from None
    return line
