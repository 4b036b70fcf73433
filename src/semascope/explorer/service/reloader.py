"""Background loading of a model, and reloading whenever it changes on disk."""

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

CHECK_SECONDS = 1.0
"""Seconds between checks of the manifest."""
_A_MOMENT = 0.01
_TRIES = 3
Version = tuple[int, ...]


def version_of(path: Path) -> Version | None:
    """Return the version of a directory, or None if it does not exist."""
    try:
        stat = (path / MANIFEST).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


class Keeper:
    """Keeper of the current model at a path.

    A background thread reads the overview, then loads the model, then prepares search. It reloads when the manifest changes;
    until then, and in running requests, the old version is used.

    Parameters
    ----------
    path : path
        Model directory.
    corpus, index : path, optional
        Corpus and index; by default, those of the model.
    """

    def __init__(self, path: Path, corpus: Path | None = None, index: Path | None = None) -> None:
        self.path = path
        self.progress = StreamMetrics()
        self._corpus, self._index = corpus, index
        self._overview: Overview | None = None
        self._now: Snapshot | None = None
        self._version: Version | None = None
        self._documents: tuple[Path, Version | None] | None = None
        """Path of the corpus, and its version."""
        self._problem: str | None = None
        self._checked_at = 0.0
        self._wake = Event()
        self._closed = False
        self.changing = Lock()
        """Held while the model is written or loaded."""

    def start(self) -> None:
        """Start the loading thread."""
        Thread(target=self._run, name="keeper", daemon=True).start()

    def close(self) -> None:
        """Stop loading."""
        self._closed = True
        self._wake.set()

    # --- requests ------------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Status of the model: "ok", "loading" or "missing"."""
        self._check_disk()
        if self._problem is not None:
            return "missing"
        return "loading" if self._now is None else "ok"

    def known(self) -> Snapshot | None:
        """Return the current snapshot, if any."""
        return self._now

    async def overview(self) -> Overview | Snapshot:
        """Return the overview: at first from the directory, later from the loaded model."""
        self._check_disk()
        while self._now is None and self._overview is None and self._problem is None:
            await asyncio.sleep(_A_MOMENT)
        if self._now is None and self._overview is not None and self._problem is None:
            return self._overview
        return await self.explored()

    async def explored(self) -> Snapshot:
        """Return the current snapshot, once loaded."""
        self._check_disk()
        self._wake.set()
        while self._now is None and self._problem is None:
            await asyncio.sleep(_A_MOMENT)
        if self._problem is not None or self._now is None:
            msg = self._problem or f"{self.path}: cannot be read."
            raise UnavailableError(msg)
        return self._now

    def resume_loading(self) -> None:
        """Resume loading once the overview has been served."""
        self._wake.set()

    def change(self, change: Callable[[Any], Any]) -> Snapshot:
        """Apply a change to the model and save it. The version on disk is changed, so no other change is lost."""
        with self.changing:
            if version_of(self.path) != self._version:
                self._load()
            if self._problem is not None or self._now is None:
                raise UnavailableError(self._problem or f"{self.path}: cannot be read.")
            model = change(self._now.model)
            model.save(self.path)
            self._now, self._version = self._now.with_model(model), version_of(self.path)
            return self._now

    def _check_disk(self) -> None:
        """Check periodically whether the model was rewritten, removed or restored."""
        if time.monotonic() - self._checked_at < CHECK_SECONDS:
            return
        self._checked_at = time.monotonic()
        version = version_of(self.path)
        if version is None:
            self._problem = f"{self.path}: the model no longer exists; restore it, or start the server with another."
        elif version != self._version or self._corpus_changed():
            self._wake.set()
        else:
            self._problem = None

    def _corpus_changed(self) -> bool:
        """Return whether the corpus was replaced or added. A removed corpus stays usable, as it is open."""
        if self._documents is None:
            return False
        version = version_of(self._documents[0])
        return version is not None and version != self._documents[1]

    # --- loading thread ------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._overview = read_overview(self.path, self._corpus)
        except Exception:  # loading reports the error
            self._overview = None
        if self._overview is not None:
            self._wake.wait(CHECK_SECONDS)  # further imports would delay the first response
        while not self._closed:
            self._wake.clear()
            with self.changing:
                if version_of(self.path) not in (None, self._version) or self._corpus_changed():
                    self._load()
            self._wake.wait()

    def _load(self) -> None:
        from semascope.explorer.service.snapshot import Snapshot
        from semascope.models.loading import load_topics

        before = self._now
        for tries_left in reversed(range(_TRIES)):
            version = version_of(self.path)
            try:
                self._publish(Snapshot.of(load_topics(self.path, or_labels=True), self._corpus), version, before)
            except (SemascopeError, OSError) as error:  # files may have been replaced while being opened
                if tries_left == 0:
                    self._problem = str(error)
            except Exception as error:  # without this thread every request would wait forever
                self._problem = f"{self.path}: cannot be loaded ({type(error).__name__}: {error})."
                return
            else:
                return

    def _publish(self, explored: Snapshot, version: Version | None, before: Snapshot | None) -> None:
        from semascope.explorer.service.warmup import prepare

        prepare(explored, self.path, self._index, before)
        self._record_progress(explored.model)
        path = self._corpus or own_path(getattr(explored.model, "corpus_", None))
        self._documents = None if path is None else (path, version_of(path))
        self._now, self._version, self._problem = explored, version, None

    def _record_progress(self, model: Any) -> None:
        """Record the progress of a model that another process trains on a stream."""
        if not model.learns_from_streams:
            return
        documents, labels = model.n_documents_seen_, model.label_names_
        if self._now is None:
            self.progress.begin(documents, labels)
        batch = LearnedBatch(max(documents - self.progress.documents, 1), model.last_tokens_, model.last_log_likelihood_)
        self.progress.add(documents, labels, batch)
