"""A corpus on disk, and its shards opened where the work is done."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import polars as pl

from semascope.corpus.analyzers import from_settings
from semascope.corpus.corpus import Corpus
from semascope.corpus.lexicon import NAMELESS, Lexicon
from semascope.corpus.rows import Rows
from semascope.corpus.shards import Shard, ShardRef, cut, read_only
from semascope.corpus.writing import FORMAT, VERSION
from semascope.errors import FormatError
from semascope.storage import MANIFEST, Directory, open_directory


@dataclass(frozen=True)
class StoredShard:
    """A shard of a corpus on disk: pickles as little, and is opened by memory-map on any machine that sees the path."""

    path: Path
    fingerprint: str
    number: int
    first_document: int
    last_document: int

    @property
    def n_documents(self) -> int:
        return self.last_document - self.first_document

    def open(self) -> Shard:
        """Map the shard's arrays, checking what is read for the first time."""
        manifest = self.path / MANIFEST
        directory = _directory(self.path, self.fingerprint, manifest.stat().st_mtime_ns if manifest.exists() else 0)
        ends = directory.array("ends", self.first_document, self.last_document + 1)
        start, stop = int(ends[0]), int(ends[-1])
        rows = Rows(ends - start, directory.array("words", start, stop), directory.array("counts", start, stop))
        return Shard(self.number, self.first_document, int(directory.facts["n_words"]), read_only(rows))


@lru_cache(maxsize=16)
def _directory(path: Path, fingerprint: str, written: int) -> Directory:
    """Open a corpus once per process, and again when it was written anew."""
    directory = open_directory(path, FORMAT, VERSION)
    if directory.facts["fingerprint"] != fingerprint:
        msg = f"{path}: the corpus was replaced by another one while it was in use."
        raise FormatError(msg)
    return directory


class StoredCorpus(Corpus):
    """A corpus on disk: everything is memory-mapped when it is first asked for."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self.analyzer = from_settings(directory.facts["analyzer"])

    @property
    def path(self) -> Path:
        return self._directory.path.resolve()

    @property
    def n_documents(self) -> int:
        return int(self._directory.facts["n_documents"])

    @property
    def n_words(self) -> int:
        return int(self._directory.facts["n_words"])

    @property
    def n_tokens(self) -> float:
        return float(self._directory.facts["n_tokens"])

    @property
    def fingerprint(self) -> str:
        return str(self._directory.facts["fingerprint"])

    @cached_property
    def rows(self) -> Rows:
        return read_only(Rows(*(self._directory.array(name) for name in Rows._fields)))

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon.from_frame(self._directory.table("vocabulary"), self.languages)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self._directory.facts.get("languages", NAMELESS))

    @cached_property
    def documents(self) -> pl.DataFrame:
        table = self._directory.table("documents")
        return table.select(self._directory.facts.get("fields", table.columns))

    def shards(self) -> list[ShardRef]:
        bounds = enumerate(cut(self._directory.array("ends")))
        return [StoredShard(self.path, self.fingerprint, number, first, last) for number, (first, last) in bounds]
