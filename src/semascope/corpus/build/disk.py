"""Block-by-block writing of a corpus directory: documents as they arrive, then rows, then the vocabulary."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl

from semascope.corpus.build.spool import PieceFiles
from semascope.corpus.csr import CSR
from semascope.corpus.fields import ALWAYS, check_unique
from semascope.corpus.lexicon import Lexicon
from semascope.corpus.text.analyzer import Analyzers, to_settings
from semascope.storage import Draft, GrowingArray, GrowingTable, Layout, open_table
from semascope.storage.facts import ListOf, Number, Plain, Record, Text, Whole
from semascope.storage.layout import TINY, Array, Column, InFacts, Table, indices, pointers

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANGUAGES = ListOf(Text(), low=1, distinct=True)
"""Codes of languages in a manifest."""

VOCABULARY = Table("n_words", {"word": Column(), "language": Column(required=False)})
"""The words of a corpus or a model."""

LAYOUT = Layout(
    kind="corpus",
    version=2,  # since 2, words may have languages
    facts=Record(
        {
            "n_documents": Whole(), "n_words": Whole(high=np.iinfo(np.int32).max), "n_entries": Whole(), "n_tokens": Number(0),
            "fingerprint": Text(), "analyzer": Plain(),
        },
        optional={"languages": LANGUAGES, "fields": ListOf(Text(), distinct=True)},
    ),
    dimensions={name: InFacts((name,)) for name in ("n_documents", "n_words", "n_entries")},
    arrays={
        "ends": pointers("n_documents", "n_entries"),
        "words": indices("n_entries", "n_words", rows="ends"),
        "counts": Array(("float32",), ("n_entries",), low=TINY, total="n_tokens"),
    },
    tables={
        "vocabulary": VOCABULARY,
        "documents": Table(
            "n_documents",
            {
                "id": Column(),
                "labels": Column(("strings",), nullable=True),
                "text": Column(("string", "by_language"), nullable=True, required=False),
            },
            others=Column(("plain",), nullable=True),
        ),
    },
)  # fmt: skip

DTYPES = {"ends": np.int64, "words": np.int32, "counts": np.float32}


class CorpusWriter:
    """Sink that writes a corpus directory; its memory does not grow with the corpus, except for eight bytes per document.

    See `semascope.corpus.build.pipeline`.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._open = ExitStack()
        self._documents = self._open.enter_context(GrowingTable(draft.folder / "documents.arrow"))
        self._arrays = {
            name: self._open.enter_context(GrowingArray(draft.folder / f"{name}.npy", dtype)) for name, dtype in DTYPES.items()
        }
        self._hashes = {name: hashlib.blake2b(digest_size=16) for name in DTYPES}
        self._id_hashes: list[NDArray[np.uint64]] = []
        self._filled: dict[str, bool] = {}
        self.n_documents = 0
        self._n_entries = 0
        self._append("ends", np.zeros(1, dtype=np.int64))

    def pieces(self) -> PieceFiles:
        """Open temporary files beside the corpus for pieces."""
        return PieceFiles(self._draft.folder)

    def documents(self, frame: pl.DataFrame, /) -> None:
        """Add documents."""
        self._documents.append(frame)
        self.n_documents += len(frame)
        self._id_hashes.append(frame["id"].hash().to_numpy())
        for column in frame:
            self._filled[column.name] = self._filled.get(column.name, False) or column.null_count() < len(column)

    def rows(self, rows: CSR, /) -> None:
        """Add the rows of documents."""
        self._append("ends", rows.ends[1:] + self._n_entries)
        self._append("words", rows.words)
        self._append("counts", rows.counts)
        self._n_entries += int(rows.ends[-1])

    def _append(self, name: str, values: NDArray[Any]) -> None:
        values = np.ascontiguousarray(values, dtype=DTYPES[name])
        self._arrays[name].append(values)
        self._hashes[name].update(values.data)

    def finish(self, lexicon: Lexicon, analyzers: Analyzers | None) -> None:
        """Write the vocabulary and the facts of the manifest."""
        self._open.close()
        self._check_ids_unique()
        self._draft.table("vocabulary", lexicon.to_frame())
        counts = np.load(self._draft.folder / "counts.npy", mmap_mode="r")
        digests = [*(self._hashes[name].digest() for name in DTYPES), lexicon.digest()]
        self._draft.facts.update(
            n_documents=self.n_documents,
            n_words=len(lexicon),
            languages=list(lexicon.languages),
            n_entries=self._n_entries,
            n_tokens=float(counts.sum(dtype=np.float64)),
            fingerprint=fingerprint(digests),
            fields=[name for name, filled in self._filled.items() if filled or name in ALWAYS],
            analyzer=to_settings(analyzers),
        )

    def _check_ids_unique(self) -> None:
        hashes = np.concatenate([np.empty(0, np.uint64), *self._id_hashes])
        hashes.sort()
        if (hashes[1:] == hashes[:-1]).any():
            check_unique(open_table(self._draft.folder / "documents.arrow")["id"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.__exit__(kind, error, trace)


def fingerprint(digests: list[bytes]) -> str:
    """Return a hash of the hashes of row ends, word numbers, counts and lexicon."""
    return hashlib.blake2b(b"".join(digests), digest_size=16).hexdigest()
