"""Segment of an index: immutable documents with their words by document and by word, and their vectors.

On disk a segment is a corpus directory with additional files, so any reader of a corpus can read a segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semascope.corpus.build.disk import LAYOUT, CorpusWriter
from semascope.corpus.corpus import Corpus, StoredCorpus
from semascope.corpus.csr import CSR, concatenate
from semascope.corpus.lexicon import NAMELESS, Lexicon
from semascope.corpus.shards import as_read_only, shard_of
from semascope.corpus.text.multilingual import in_languages
from semascope.kernels.csr import renumber
from semascope.storage import open_directory, writing
from semascope.storage.facts import ListOf, Text
from semascope.storage.layout import ANY, SLACK, TINY, Array, indices, numbers, pointers

if TYPE_CHECKING:
    from numpy.typing import NDArray


SEGMENT = LAYOUT.also(
    facts={"vectors": ListOf(Text(), distinct=True)},
    arrays={
        "posting_ends": pointers("n_words", "n_entries"),
        "posting_documents": indices("n_entries", "n_documents", rows="posting_ends"),
        "posting_counts": Array(("float32",), ("n_entries",), low=TINY, total="n_tokens"),
        "vectors_*": numbers("n_documents", ANY, low=-1 - SLACK, high=1 + SLACK, dtypes=("float32",)),
    },
)
"""Layout of a corpus with additional files."""


class Postings(NamedTuple):
    """Documents and counts of each word.

    ends       int64[v + 1]   postings of word w are [ends[w]:ends[w + 1]] of the other two
    documents  int32[nnz]     ascending for each word
    counts     float32[nnz]
    """

    ends: NDArray[np.int64]
    documents: NDArray[np.int32]
    counts: NDArray[np.float32]

    @classmethod
    def of(cls, corpus: Corpus) -> Postings:
        """Build the postings of a corpus."""
        by_word = shard_of(corpus.rows, 0, 0, corpus.n_documents, corpus.n_words).by_word
        ends = np.zeros(corpus.n_words + 1, np.int64)
        ends[by_word.words + 1] = np.diff(by_word.ends)
        counts = corpus.rows.counts[by_word.places]
        return cls(
            as_read_only(np.cumsum(ends), np.int64), as_read_only(by_word.documents, np.int32), as_read_only(counts, np.float32)
        )


@dataclass(frozen=True, eq=False)
class Segment:
    """Immutable documents of an index.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    postings : Postings
        Their counts by word.
    vectors : dict of name to ndarray
        Their vectors in the spaces of the index, one row per document.
    """

    corpus: Corpus
    postings: Postings
    vectors: dict[str, NDArray[Any]]

    @cached_property
    def lengths(self) -> NDArray[np.float32]:
        """Length of each document."""
        rows = self.corpus.rows
        return as_read_only(shard_of(rows, 0, 0, self.corpus.n_documents, self.corpus.n_words).lengths, np.float32)

    def has_language(self, language: str) -> NDArray[np.bool_]:
        """Return which documents have a text in a language, possibly one that only other segments have."""
        if language in self.corpus.languages:
            return self.corpus.has_language(language)
        return np.full(self.corpus.n_documents, self.corpus.languages == NAMELESS)

    def write(self, path: Path) -> None:
        """Write the segment as a directory."""
        with writing(path, SEGMENT) as draft, CorpusWriter(draft) as writer:
            writer.documents(self.corpus.documents)
            writer.rows(self.corpus.rows)
            writer.finish(self.corpus.lexicon, self.corpus.analyzer)
            for name, values in self.postings._asdict().items():
                draft.array(f"posting_{name}", values)
            for name, values in self.vectors.items():
                draft.array(f"vectors_{name}", values)
            draft.facts["vectors"] = list(self.vectors)

    @classmethod
    def open(cls, path: Path) -> Segment:
        """Open a written segment, memory-mapped."""
        directory = open_directory(path, SEGMENT)
        postings = Postings(*(directory.array(f"posting_{name}") for name in Postings._fields))
        vectors = {name: directory.array(f"vectors_{name}") for name in directory.facts["vectors"]}
        return cls(StoredCorpus(directory), postings, vectors)


def merge_segments(segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], lexicon: Lexicon) -> Segment:
    """Merge segments, dropping deleted documents and words that no other document has."""
    parts = [segment.corpus.filter(kept) for segment, kept in zip(segments, alive, strict=True)]
    rows = concatenate([CSR(*renumber(*part.rows, _numbers(part, lexicon), len(lexicon))) for part in parts])
    used = np.zeros(len(lexicon), dtype=bool)
    used[rows.words] = True
    numbers = as_read_only(np.where(used, np.cumsum(used) - 1, -1), np.int32)
    kept_words = Lexicon(lexicon.words.filter(pl.Series(used)), lexicon.languages, lexicon.of_word[used])
    documents = documents_of(parts)
    corpus = Corpus(CSR(*renumber(*rows, numbers, len(kept_words))), kept_words, documents, segments[0].corpus.analyzer)
    names = segments[0].vectors
    vectors = {
        name: np.concatenate([segment.vectors[name][kept] for segment, kept in zip(segments, alive, strict=True)])
        for name in names
    }
    return Segment(corpus, Postings.of(corpus), vectors)


def documents_of(corpora: Sequence[Corpus]) -> pl.DataFrame:
    """Return the document tables of several corpora as one, with text columns for all languages."""
    languages = tuple(dict.fromkeys(language for corpus in corpora for language in corpus.languages if language)) or NAMELESS

    def with_all_languages(corpus: Corpus) -> pl.DataFrame:
        texts = corpus.texts
        return corpus.documents.with_columns([] if texts is None else in_languages(texts, corpus.languages, languages))

    return pl.concat(map(with_all_languages, corpora), how="diagonal_relaxed")


def _numbers(corpus: Corpus, lexicon: Lexicon) -> NDArray[np.int32]:
    return as_read_only(corpus.lexicon.numbers_in(lexicon), np.int32)
