"""A corpus on disk, and its shards opened where the work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import polars as pl

from semascope.corpus.analyzers import read_analyzers
from semascope.corpus.corpus import Corpus
from semascope.corpus.lexicon import NAMELESS, Lexicon, read_lexicon
from semascope.corpus.rows import Rows
from semascope.corpus.shards import Shard, ShardRef, cut, read_only
from semascope.corpus.writing import LAYOUT
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
    directory = open_directory(path, LAYOUT)
    if directory.facts["fingerprint"] != fingerprint:
        msg = f"{path}: the corpus was replaced by another one while it was in use."
        raise FormatError(msg)
    return directory


class StoredCorpus(Corpus):
    """A corpus on disk: everything is memory-mapped when it is first asked for."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self.analyzer = read_analyzers(directory)

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
        self._check_words()
        return read_only(Rows(*(self._directory.array(name) for name in Rows._fields)))

    @cached_property
    def lexicon(self) -> Lexicon:
        return read_lexicon(self._directory)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self._directory.facts.get("languages", NAMELESS))

    @cached_property
    def documents(self) -> pl.DataFrame:
        table = self._directory.table("documents")
        fields = self._directory.facts.get("fields", table.columns)
        if problem := _problem_of_fields(table, fields, self.languages):
            msg = f"{self._directory.path}: {problem}."
            raise FormatError(msg)
        return table.select(fields)

    def _check_words(self) -> None:
        """Compare the number of words that rows may name with that of the words there are."""
        if len(self.lexicon) != self.n_words:
            msg = f"{self._directory.path}: expected {self.n_words:,} words, found {len(self.lexicon):,}."
            raise FormatError(msg)

    def shards(self) -> list[ShardRef]:
        bounds = enumerate(cut(self._directory.array("ends")))
        return [StoredShard(self.path, self.fingerprint, number, first, last) for number, (first, last) in bounds]


def _problem_of_fields(table: pl.DataFrame, fields: Sequence[str], languages: Sequence[str]) -> str | None:
    """Return what is wrong with the fields of documents, if anything."""
    for name in ("id", "labels", *fields):
        if name not in fields or name not in table.columns:
            return f"expected documents with a field {name!r}, but they have none"
    if table["id"].n_unique() < len(table):
        return "two documents have the same id"
    texts = table.schema.get("text", pl.String())
    found = {field.name for field in texts.fields} if isinstance(texts, pl.Struct) else None
    if (found is None) != (len(languages) == 1) or not (found or set()) <= set(languages):
        return "the texts of the documents are not in the languages that the manifest states"
    return None
