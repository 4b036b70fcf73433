"""Background preparation of the index and of document shares."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Thread

from semascope.explorer.schemas import NO, PREPARING, READY
from semascope.explorer.service.snapshot import Snapshot
from semascope.retrieval.index import Index
from semascope.retrieval.segment_store import vectors_by

log = logging.getLogger("semascope")


def default_index(model: Path) -> Path:
    """Return the default path of the index of a model."""
    return model.with_name(model.name + ".index")


def prepare(explored: Snapshot, model: Path, index: Path | None, before: Snapshot | None = None) -> None:
    """Start to prepare search in the background; meanwhile the previous index serves if the documents are the same."""
    search = explored.search
    if index is None and default_index(model).is_dir():
        index = default_index(model)
    if index is None and explored.corpus is None:
        return
    search.state = PREPARING
    if before is not None and _same_documents(explored, before):
        search.state, search.index = before.search.state, before.search.index
    Thread(target=_prepare, args=(explored, index), name="preparing", daemon=True).start()


def _same_documents(explored: Snapshot, before: Snapshot) -> bool:
    new, old = explored.corpus, before.corpus
    return new is not None and old is not None and new.fingerprint == old.fingerprint and before.search.index is not None


def _prepare(explored: Snapshot, path: Path | None) -> None:
    search = explored.search
    try:
        search.index = (_build_index(explored) if path is None else Index.open(path)).warm_up()
        search.state = READY
        if explored.shares is not None:
            _ = explored.shares.table
    except Exception as error:  # everything but search still works
        log.warning("search cannot be prepared: %s", error)
        search.state = READY if search.index is not None else NO


def _build_index(explored: Snapshot) -> Index:
    assert explored.corpus is not None
    return Index.build(explored.corpus, None if vectors_by(explored.model) is None else explored.model)
