"""Corpus: documents as counts of words, with their ids, texts and labels. The noun that everything else takes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from semascope.corpus.analyze import Analyzer
from semascope.corpus.count import Rows, count_texts, count_tokens
from semascope.corpus.documents import described, numbered, without_empty_columns
from semascope.corpus.matrix import rows_of_matrix
from semascope.corpus.read import Documents
from semascope.corpus.readers.counts import CountedDocuments
from semascope.corpus.readers.fields import document_schema
from semascope.corpus.readers.tables import whole_frame
from semascope.corpus.shards import ShardRef, cut, frozen, read_only, shard_of
from semascope.corpus.stored import FORMAT, VERSION, StoredShard
from semascope.errors import InputError, SourceError
from semascope.kernels.rows import renumber
from semascope.storage import Directory, open_directory, writing

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
        documents: Documents | CountedDocuments | Any,
        analyzer: Analyzer | None = None,
        *,
        vocabulary: pl.Series | None = None,
    ) -> Corpus:
        """Make a corpus from documents that `semascope.read` or `read_counts` gives, or from a frame with a column ``text``.

        The frame may be of polars, pandas or Arrow. With a `vocabulary`, a model's for example, only its words are counted.
        """
        if isinstance(documents, CountedDocuments):
            return cls._of_counts(documents)._checked(vocabulary)
        analyzer = _counting(analyzer, vocabulary)
        kept: list[pl.DataFrame] = []
        blocks = documents if isinstance(documents, Documents) else [whole_frame(documents)]

        def texts() -> Iterator[pl.Series]:
            for block in blocks:
                kept.append(block.with_columns(pl.col("text").fill_null("")))
                yield kept[-1]["text"]

        rows, words = count_texts(texts(), analyzer)
        if len(rows.ends) == 1:
            raise SourceError(_nothing_in(documents))
        try:
            return cls(rows, words, without_empty_columns(numbered(pl.concat(kept))), analyzer)._checked(vocabulary)
        except InputError as error:
            if isinstance(documents, Documents):
                msg = f"{documents.source}: {error}"
                raise SourceError(msg) from None
            raise

    @classmethod
    def _of_counts(cls, documents: CountedDocuments) -> Corpus:
        given = list(documents)
        if not given:
            raise SourceError(_nothing_in(documents))
        frames, blocks = zip(*given, strict=True)
        starts = np.cumsum([0, *(len(rows.words) for rows in blocks[:-1])])
        ends = [np.zeros(1, np.int64), *(rows.ends[1:] + start for rows, start in zip(blocks, starts, strict=True))]
        words, counts = (np.concatenate(parts) for parts in zip(*(rows[1:] for rows in blocks), strict=True))
        assert documents.words is not None, "known once the blocks have been read"
        return cls(Rows(np.concatenate(ends), words, counts), documents.words, numbered(pl.concat(frames)), None)

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
        analyzer = _counting(analyzer, vocabulary)
        if isinstance(texts, str):
            msg = "expected several texts; put the one text into a list."
            raise InputError(msg)
        texts = list(texts)
        documents = described(len(texts), ids, labels, texts)
        rows, words = count_texts([texts], analyzer)
        return cls(rows, words, documents, analyzer)._checked(vocabulary)

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Sequence[str]],
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        analyzer: Analyzer | None = None,
    ) -> Corpus:
        """Make a corpus from documents that are lists of words already, of any script or kind."""
        analyzer = analyzer or Analyzer(lowercase=False, min_length=1)
        listed = list(documents)
        documents_given = described(len(listed), ids, labels, None)
        rows, words = count_tokens(listed, analyzer)
        return cls(rows, words, documents_given, analyzer)._checked(None)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        vocabulary: Sequence[str] | None = None,
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> Corpus:
        """Make a corpus from a matrix of counts, dense or sparse: documents × words, or any two-way table."""
        rows, n_words = rows_of_matrix(X)
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
        return StoredCorpus(open_directory(path, FORMAT, VERSION))

    def save(self, path: str | Path) -> None:
        """Write the corpus as a directory; a crash meanwhile leaves what was there before."""
        with writing(path, FORMAT, VERSION) as draft:
            for name, array in self.rows._asdict().items():
                draft.array(name, array)
            draft.table("vocabulary", self.words.to_frame())
            draft.table("documents", self.documents)
            draft.facts.update(
                n_documents=self.n_documents,
                n_words=self.n_words,
                n_entries=len(self.rows.words),
                n_tokens=self.n_tokens,
                fingerprint=self.fingerprint,
                analyzer=self.analyzer.to_dict() if self.analyzer else None,
            )

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
        parts: list[Any] = [*self.rows, "\n".join(self.words).encode()]
        digests = [hashlib.blake2b(part, digest_size=16).digest() for part in parts]
        return hashlib.blake2b(b"".join(digests), digest_size=16).hexdigest()

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

    def _checked(self, vocabulary: pl.Series | None) -> Corpus:
        """Put the corpus on a given vocabulary; without one, see that there are words at all."""
        if vocabulary is not None:
            return self.aligned(vocabulary)
        if self.n_words == 0:
            raise InputError(_no_words(self.n_documents, self.analyzer))
        return self

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


class StoredCorpus(Corpus):
    """A corpus on disk: everything is memory-mapped when it is first asked for."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        analyzer = directory.facts["analyzer"]
        self.analyzer = Analyzer.from_dict(analyzer) if analyzer else None

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
    def words(self) -> pl.Series:
        return self._directory.table("vocabulary")["word"]

    @cached_property
    def documents(self) -> pl.DataFrame:
        return self._directory.table("documents")

    def shards(self) -> list[ShardRef]:
        bounds = enumerate(cut(self._directory.array("ends")))
        return [StoredShard(self.path, self.fingerprint, number, first, last) for number, (first, last) in bounds]


def _counting(analyzer: Analyzer | None, vocabulary: pl.Series | None) -> Analyzer:
    """The analyzer to count with: a given vocabulary is not pruned again."""
    analyzer = analyzer or Analyzer()
    return analyzer if vocabulary is None else replace(analyzer, min_df=1, max_df=1.0, max_features=None)


def _nothing_in(documents: Documents | CountedDocuments | Any) -> str:
    if not isinstance(documents, Documents | CountedDocuments):
        return "there are no documents in the frame."
    if documents.bad:
        return f"{documents.source}: none of its {len(documents.bad):,} records can be read; the first: {documents.bad[0]}"
    return f"{documents.source}: there are no documents."


def _no_words(n_documents: int, analyzer: Analyzer | None) -> str:
    if analyzer is None or analyzer == Analyzer():
        return f"there are no words in the {n_documents:,} documents: the texts are empty or have no word long enough."
    limits = [f"min_length={analyzer.min_length}", f"min_df={analyzer.min_df}", f"max_df={analyzer.max_df}"]
    limits += [f"max_features={analyzer.max_features}"] if analyzer.max_features else []
    limits += ["the stop words"] if analyzer.stop_words else []
    return f"no words of the {n_documents:,} documents are left within {', '.join(limits)}: loosen one of these."
