"""Shards of a corpus on disk, opened by the workers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from semascope.corpus.build.disk import LAYOUT
from semascope.corpus.csr import CSR
from semascope.corpus.shards import Shard, read_only
from semascope.errors import FormatError
from semascope.storage import MANIFEST, Directory, open_directory


@dataclass(frozen=True)
class StoredShard:
    """A shard of a corpus on disk: a small pickle, memory-mapped on any machine that sees the path."""

    path: Path
    fingerprint: str
    number: int
    first_document: int
    last_document: int

    @property
    def n_documents(self) -> int:
        return self.last_document - self.first_document

    def open(self) -> Shard:
        """Open the shard by memory-map, validating blocks on first access."""
        manifest = self.path / MANIFEST
        directory = _directory(self.path, self.fingerprint, manifest.stat().st_mtime_ns if manifest.exists() else 0)
        ends = directory.array("ends", self.first_document, self.last_document + 1)
        start, stop = int(ends[0]), int(ends[-1])
        rows = CSR(ends - start, directory.array("words", start, stop), directory.array("counts", start, stop))
        return Shard(self.number, self.first_document, int(directory.facts["n_words"]), read_only(rows))


@lru_cache(maxsize=16)
def _directory(path: Path, fingerprint: str, written: int) -> Directory:
    """Open a corpus once per process, and again after it was rewritten."""
    directory = open_directory(path, LAYOUT)
    if directory.facts["fingerprint"] != fingerprint:
        msg = f"{path}: the corpus was replaced by another one while it was in use."
        raise FormatError(msg)
    return directory
