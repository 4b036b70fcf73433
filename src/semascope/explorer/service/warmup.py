"""What takes a while, done before anybody asks for it: the index, and shares of documents."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Thread

from semascope.explorer.schemas import NO, PREPARING, READY
from semascope.explorer.service.snapshot import Snapshot
from semascope.retrieval.index import Index
from semascope.retrieval.segment_store import vectors_by

log = logging.getLogger("semascope")


def index_beside(model: Path) -> Path:
    """Where an index of a model is looked for."""
    return model.with_name(model.name + ".index")


def prepare(explored: Snapshot, model: Path, index: Path | None, before: Snapshot | None = None) -> None:
    """Begin to make what search needs, on a thread of its own; until then, what was made for the same documents serves."""
    search = explored.search
    if index is None and index_beside(model).is_dir():
        index = index_beside(model)
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
        search.index = (_built(explored) if path is None else Index.open(path)).warm_up()
        search.state = READY
        if explored.shares is not None:
            _ = explored.shares.table
    except Exception as error:  # whatever it is, all else still works
        log.warning("search cannot be prepared: %s", error)
        search.state = READY if search.index is not None else NO


def _built(explored: Snapshot) -> Index:
    assert explored.corpus is not None
    return Index.build(explored.corpus, None if vectors_by(explored.model) is None else explored.model)
