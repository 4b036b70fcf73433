"""Keeping up with a model on disk: loaded beside the server, and again whenever it is written anew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from semascope.errors import SemascopeError
from semascope.explorer.errors import UnavailableError
from semascope.explorer.schemas import Status
from semascope.explorer.service.overview import Overview, own_path, read_overview
from semascope.storage import MANIFEST
from semascope.streaming.metrics import LearnedBatch, StreamMetrics

if TYPE_CHECKING:
    from semascope.explorer.service.snapshot import Snapshot

LOOK_SECONDS = 1.0
"""Between looks at the manifest."""
_A_MOMENT = 0.01
_TRIES = 3
Version = tuple[int, ...]


def version_of(path: Path) -> Version | None:
    """What tells one version of a directory from another; None when there is no directory."""
    try:
        found = (path / MANIFEST).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


class Keeper:
    """Has the model at a path at hand, as it is now.

    A thread of its own first reads what is seen first, then loads the model, then whatever search needs. It loads again when
    the manifest changes; meanwhile, and in requests that have begun, the old version serves.

    Parameters
    ----------
    path : path
        The model.
    corpus, index : path, optional
        Documents and index, where they are not the model's own.
    """

    def __init__(self, path: Path, corpus: Path | None = None, index: Path | None = None) -> None:
        self.path = path
        self.progress = StreamMetrics()
        self._corpus, self._index = corpus, index
        self._overview: Overview | None = None
        self._now: Snapshot | None = None
        self._version: Version | None = None
        self._documents: tuple[Path, Version | None] | None = None
        """Where the corpus was, or should have been, and its version."""
        self._problem: str | None = None
        self._looked = 0.0
        self._asked = Event()
        self._closed = False
        self.changing = Lock()
        """Held by whoever writes the model, and while it is loaded."""

    def start(self) -> None:
        """Begin to load."""
        Thread(target=self._keep_up, name="keeper", daemon=True).start()

    def close(self) -> None:
        """Load no more."""
        self._closed = True
        self._asked.set()

    # --- for requests --------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Whether there is a model to answer from: "ok", "loading", or "missing"."""
        self._look()
        if self._problem is not None:
            return "missing"
        return "loading" if self._now is None else "ok"

    def known(self) -> Snapshot | None:
        """What is at hand now, if anything."""
        return self._now

    async def overview(self) -> Overview | Snapshot:
        """What is seen first, as soon as it is known: at the start from the directory, later from the model."""
        self._look()
        while self._now is None and self._overview is None and self._problem is None:
            await asyncio.sleep(_A_MOMENT)
        if self._now is None and self._overview is not None and self._problem is None:
            return self._overview
        return await self.explored()

    async def explored(self) -> Snapshot:
        """The model, once it is loaded."""
        self._look()
        self._asked.set()
        while self._now is None and self._problem is None:
            await asyncio.sleep(_A_MOMENT)
        if self._problem is not None or self._now is None:
            msg = self._problem or f"{self.path}: cannot be read."
            raise UnavailableError(msg)
        return self._now

    def go_on(self) -> None:
        """Note that what is seen first has been shown, so that the rest may be loaded."""
        self._asked.set()

    def change(self, change: Callable[[Any], Any]) -> Snapshot:
        """Write a changed model, and go on with it. Only what is on disk now is changed, so that nothing is lost."""
        with self.changing:
            if version_of(self.path) != self._version:
                self._load()
            if self._problem is not None or self._now is None:
                raise UnavailableError(self._problem or f"{self.path}: cannot be read.")
            model = change(self._now.model)
            model.save(self.path)
            self._now, self._version = self._now.with_model(model), version_of(self.path)
            return self._now

    def _look(self) -> None:
        """See now and then whether the model was written anew, or is gone, or is back."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        found = version_of(self.path)
        if found is None:
            self._problem = f"{self.path}: the model is no longer there; put it back, or start with another."
        elif found != self._version or self._has_other_documents():
            self._asked.set()
        else:
            self._problem = None

    def _has_other_documents(self) -> bool:
        """Tell whether another corpus is there now, or one where none was. One that is gone still serves: it is open."""
        if self._documents is None:
            return False
        found = version_of(self._documents[0])
        return found is not None and found != self._documents[1]

    # --- on its own thread ---------------------------------------------------------------------------------------------------

    def _keep_up(self) -> None:
        try:
            self._overview = read_overview(self.path, self._corpus)
        except Exception:  # loading says what is wrong
            self._overview = None
        if self._overview is not None:
            self._asked.wait(LOOK_SECONDS)  # to import more now would hold up the first answer
        while not self._closed:
            self._asked.clear()
            with self.changing:
                if version_of(self.path) not in (None, self._version) or self._has_other_documents():
                    self._load()
            self._asked.wait()

    def _load(self) -> None:
        from semascope.explorer.service.snapshot import Snapshot
        from semascope.models.loading import load_topics

        before = self._now
        for tries_left in reversed(range(_TRIES)):
            version = version_of(self.path)
            try:
                self._take(Snapshot.of(load_topics(self.path, or_labels=True), self._corpus), version, before)
            except (SemascopeError, OSError) as error:  # its files may have been replaced while they were opened
                if tries_left == 0:
                    self._problem = str(error)
            except Exception as error:  # without this thread every request would wait for ever
                self._problem = f"{self.path}: cannot be shown ({type(error).__name__}: {error})."
                return
            else:
                return

    def _take(self, explored: Snapshot, version: Version | None, before: Snapshot | None) -> None:
        from semascope.explorer.service.warmup import prepare

        prepare(explored, self.path, self._index, before)
        self._note_progress(explored.model)
        path = self._corpus or own_path(getattr(explored.model, "corpus_", None))
        self._documents = None if path is None else (path, version_of(path))
        self._now, self._version, self._problem = explored, version, None

    def _note_progress(self, model: Any) -> None:
        """Note how far a model has come that another process has learn from a stream."""
        if not model.learns_from_streams:
            return
        documents, labels = model.n_documents_seen_, model.label_names_
        if self._now is None:
            self.progress.begin(documents, labels)
        batch = LearnedBatch(max(documents - self.progress.documents, 1), model.last_tokens_, model.last_log_likelihood_)
        self.progress.add(documents, labels, batch)
