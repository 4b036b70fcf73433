"""Corpus: documents as counts of words, with their ids, texts and labels. The noun that everything else takes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from semascope.corpus.analyze import Analyzer
from semascope.corpus.building import (
    Source,
    count_source,
    for_vocabulary,
    in_memory,
    kept_analyzer,
    naming,
    no_words,
    write_corpus,
)
from semascope.corpus.count import count_texts, count_tokens
from semascope.corpus.documents import check_unique, described, numbered, without_empty_columns
from semascope.corpus.matrix import rows_of_matrix
from semascope.corpus.number import Counted
from semascope.corpus.pieces import PieceList
from semascope.corpus.readers.fields import document_schema
from semascope.corpus.rows import Rows, joined
from semascope.corpus.shards import ShardRef, cut, frozen, read_only, shard_of
from semascope.corpus.writing import FORMAT, VERSION, CorpusWriter, digest_of_words, fingerprint
from semascope.errors import InputError
from semascope.kernels.rows import renumber
from semascope.storage import open_directory, writing

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Corpus:
    """Documents as counts of words.

    Make one with `build`, `from_texts`, `from_tokens` or `from_matrix`; keep it with `save` and take it up with `open`.

    Attributes
    ----------
    vocabulary : ndarray of str
        The words; column j of the counts is word j. Most frequent first when built from text.
    documents : polars.DataFrame
        One row a document: ``id``, ``labels``, and where there are any ``text`` and further fields.
    analyzer : Analyzer or None
        What made words of the texts.
    path : Path or None
        Where the corpus lies on disk.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["a cat and a dog", "a dog"], ids=["x", "y"])
    >>> corpus
    <Corpus: 2 documents, 3 words, 4 tokens>
    >>> corpus.vocabulary
    array(['dog', 'and', 'cat'], dtype=object)
    >>> corpus.counts.toarray()
    array([[1., 1., 1.],
           [1., 0., 0.]], dtype=float32)
    """

    def __init__(
        self,
        rows: Rows,
        vocabulary: pl.Series,
        documents: Mapping[str, Any] | pl.DataFrame,
        analyzer: Analyzer | None,
    ) -> None:
        self._rows = read_only(rows)
        self._words = vocabulary.rename("word")
        self.analyzer = analyzer
        self._given_documents = documents

    # --- making one --------------------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        documents: Source | Any,
        analyzer: Analyzer | None = None,
        *,
        path: str | Path | None = None,
        vocabulary: pl.Series | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> Corpus:
        """Make a corpus from documents that `semascope.read` or `semascope.read_counts` gives, or from a frame.

        Parameters
        ----------
        documents : Documents, CountedDocuments, or frame
            A polars, pandas or Arrow table needs a column ``text``; `semascope.read` takes other names.
        analyzer : Analyzer, optional
            How texts become words.
        path : path, optional
            Write the corpus there block by block instead of holding it in memory: it may be bigger than that.
        vocabulary : polars.Series, optional
            Count only these words, a model's for example; for a corpus in memory.
        watch : callable, optional
            Told the number of documents read so far.
        """
        source = documents if isinstance(documents, Source) else in_memory(documents)
        if path is not None and vocabulary is not None:
            msg = "a corpus on disk has a vocabulary of its own; give a path or a vocabulary, not both."
            raise InputError(msg)
        if path is not None:
            write_corpus(source, analyzer or Analyzer(), Path(path), watch)
            return cls.open(path)
        analyzer = (analyzer or Analyzer()) if vocabulary is None else for_vocabulary(analyzer)
        blocks: list[pl.DataFrame] = []
        with naming(source):
            counted = count_source(source, analyzer, PieceList(), blocks.append, watch)
            frame = without_empty_columns(pl.concat(blocks))
            check_unique(frame["id"])
            return cls._of(counted, frame, kept_analyzer(source, analyzer), vocabulary)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        analyzer: Analyzer | None = None,
        vocabulary: pl.Series | None = None,
    ) -> Corpus:
        """Make a corpus from texts in memory; `labels` holds one label or a list of labels for each.

        With a `vocabulary`, a model's for example, only its words are counted.
        """
        analyzer = (analyzer or Analyzer()) if vocabulary is None else for_vocabulary(analyzer)
        if isinstance(texts, str):
            msg = "expected several texts; put the one text into a list."
            raise InputError(msg)
        texts = list(texts)
        documents = described(len(texts), ids, labels, texts)
        return cls._of(count_texts([texts], analyzer, PieceList()), documents, analyzer, vocabulary)

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Sequence[str]],
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        analyzer: Analyzer | None = None,
    ) -> Corpus:
        """Make a corpus from documents that are lists of words already, of any script or kind.

        The analyzer's stop words, stems, n-grams and limits apply; by default the words stay as they are.

        Examples
        --------
        >>> Corpus.from_tokens([["自然", "言語", "処理"], ["言語"]]).vocabulary
        array(['言語', '処理', '自然'], dtype=object)
        """
        analyzer = analyzer or Analyzer(lowercase=False, min_length=1)
        listed = list(documents)
        documents_given = described(len(listed), ids, labels, None)
        return cls._of(count_tokens(listed, analyzer, PieceList()), documents_given, analyzer, None)

    @classmethod
    def _of(
        cls,
        counted: Counted,
        documents: Mapping[str, Any] | pl.DataFrame,
        analyzer: Analyzer | None,
        vocabulary: pl.Series | None,
    ) -> Corpus:
        """Put what was counted on a given vocabulary; without one, see that there are words at all."""
        corpus = cls(joined(list(counted.rows())), counted.vocabulary, documents, analyzer)
        if vocabulary is not None:
            return corpus.aligned(vocabulary)
        if corpus.n_words == 0:
            raise InputError(no_words(corpus.n_documents, analyzer or Analyzer()))
        return corpus

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        vocabulary: Sequence[str] | None = None,
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> Corpus:
        """Make a corpus from a matrix of counts, dense or sparse: documents × words, or any two-way table.

        The columns of a pandas or polars frame name the words unless a `vocabulary` does.
        """
        rows, n_words = rows_of_matrix(X)
        vocabulary = getattr(X, "columns", None) if vocabulary is None else vocabulary
        names = [f"x{j}" for j in range(n_words)] if vocabulary is None else [str(word) for word in vocabulary]
        if len(names) != n_words:
            msg = f"the matrix has {n_words:,} columns, but the vocabulary has {len(names):,} words."
            raise InputError(msg)
        if len(set(names)) != n_words:
            msg = "the vocabulary names a word twice; each column needs a word of its own."
            raise InputError(msg)
        series = pl.Series("word", names, dtype=pl.String)
        return cls(rows, series, described(len(rows.ends) - 1, ids, labels, None), None)

    # --- on disk -----------------------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | Path) -> Corpus:
        """Open a saved corpus; its counts and texts are memory-mapped, not read."""
        from semascope.corpus.stored import StoredCorpus  # which is a corpus itself

        return StoredCorpus(open_directory(path, FORMAT, VERSION))

    def save(self, path: str | Path) -> None:
        """Write the corpus as a directory; a crash meanwhile leaves what was there before."""
        with writing(path, FORMAT, VERSION) as draft, CorpusWriter(draft) as writer:
            writer.documents(self.documents)
            writer.rows(self.rows)
            writer.finish(self.words, self.analyzer)

    # --- what is in it -----------------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path | None:
        return None

    @property
    def rows(self) -> Rows:
        """The counts, as the kernels take them."""
        return self._rows

    @property
    def words(self) -> pl.Series:
        """The vocabulary as a polars series."""
        return self._words

    @property
    def n_documents(self) -> int:
        return len(self.rows.ends) - 1

    @property
    def n_words(self) -> int:
        return len(self.words)

    @cached_property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return float(self.rows.counts.sum(dtype=np.float64))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of counts and vocabulary: two corpora with the same one train the same models."""
        digests = [hashlib.blake2b(part, digest_size=16).digest() for part in self.rows]  # type: ignore[arg-type]
        return fingerprint([*digests, digest_of_words(self.words)])

    @cached_property
    def documents(self) -> pl.DataFrame:
        if isinstance(self._given_documents, pl.DataFrame):
            return self._given_documents
        return numbered(pl.DataFrame(self._given_documents, schema_overrides=document_schema(())))

    @cached_property
    def vocabulary(self) -> NDArray[np.object_]:
        return np.array(self.words.to_list(), dtype=object)

    @property
    def ids(self) -> pl.Series:
        """The identifiers of the documents."""
        return self.documents["id"]

    @property
    def labels(self) -> pl.Series:
        """The list of labels of each document."""
        return self.documents["labels"]

    @property
    def texts(self) -> pl.Series | None:
        """The texts, where the corpus was made from any."""
        return self.documents["text"] if "text" in self.documents.columns else None

    @cached_property
    def counts(self) -> sp.csr_matrix:
        """The counts as a SciPy matrix, documents × words."""
        matrix = sp.csr_matrix((self.n_documents, self.n_words), dtype=np.float32)
        # Set the arrays by hand: SciPy's constructor would copy and check what is known to be in order.
        matrix.indices, matrix.data = self.rows.words, self.rows.counts
        matrix.indptr = self.rows.ends
        if len(self.rows.words) < 2**31:
            matrix.indptr = self.rows.ends.astype(np.int32)  # SciPy wants one type for both
        else:
            matrix.indices = self.rows.words.astype(np.int64)
        matrix.has_canonical_format = True
        return matrix

    def shards(self) -> list[ShardRef]:
        """The pieces that work is divided into."""
        bounds = enumerate(cut(self.rows.ends))
        return [shard_of(self.rows, number, first, last, self.n_words) for number, (first, last) in bounds]

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return f"<Corpus: {self.n_documents:,} documents, {self.n_words:,} words, {self.n_tokens:,.0f} tokens>"

    def aligned(self, vocabulary: pl.Series) -> Corpus:
        """Give the same documents over another vocabulary; words that are not in it are left out."""
        if self.words.equals(vocabulary):
            return self
        numbered = pl.DataFrame({"word": vocabulary, "number": np.arange(len(vocabulary), dtype=np.int32)})
        numbers = self.words.to_frame().join(numbered, on="word", how="left", maintain_order="left")["number"]
        rows = renumber(*self.rows, frozen(numbers.fill_null(-1).to_numpy(), np.int32), len(vocabulary))
        return Corpus(Rows(*rows), vocabulary, self.documents, self.analyzer)

    # --- parts of it -------------------------------------------------------------------------------------------------------

    def filter(self, keep: pl.Expr | Sequence[int] | NDArray[Any]) -> Corpus:
        """Give the documents that are wanted; the vocabulary stays whole, so that models of parts can be compared.

        Parameters
        ----------
        keep : polars expression, boolean array, or document numbers
            An expression is over `documents`: ``pl.col("labels").list.contains("sci.space")``, for example.
        """
        if isinstance(keep, pl.Expr):
            chosen = np.flatnonzero(self.documents.select(keep.fill_null(value=False)).to_series().to_numpy())
        else:
            chosen = np.asarray(keep)
            if chosen.dtype == bool:
                if len(chosen) != self.n_documents:
                    msg = f"filter got {len(chosen):,} truth values for {self.n_documents:,} documents."
                    raise InputError(msg)
                chosen = np.flatnonzero(chosen)
        taken = self.counts[chosen]
        rows = Rows(taken.indptr.astype(np.int64), taken.indices, taken.data)
        return Corpus(rows, self.words, self.documents[chosen], self.analyzer)

    def split(self, test: float = 0.1, *, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Divide the documents at random into a training and a test part; the same seed gives the same parts.

        Examples
        --------
        >>> train, test = Corpus.from_texts(["a word"] * 10).split(0.3, seed=1)
        >>> len(train), len(test)
        (7, 3)
        """
        if not 0.0 < test < 1.0:
            msg = f"the test part must be a share between 0 and 1, but was {test}."
            raise InputError(msg)
        order = np.random.default_rng(seed).permutation(self.n_documents)
        n_test = round(test * self.n_documents)
        return self.filter(np.sort(order[n_test:])), self.filter(np.sort(order[:n_test]))
