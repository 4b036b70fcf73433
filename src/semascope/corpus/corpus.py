"""Corpus: documents as word counts, with their ids, texts and labels. Models and indexes are built from it."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from semascope.corpus.build.counters import CorpusCounter, LanguageCounter, TokenListCounter
from semascope.corpus.build.disk import LAYOUT, CorpusWriter, fingerprint
from semascope.corpus.build.pipeline import (
    Block,
    MemorySink,
    Source,
    blocks_of,
    build_corpus,
    check_has_languages,
    counter_for,
    in_memory,
    name_source_in_errors,
)
from semascope.corpus.build.spool import Pieces
from semascope.corpus.csr import CSR
from semascope.corpus.fields import default_ids, describe_documents, divide_documents, numbers_in, numbers_of
from semascope.corpus.lexicon import NAMELESS, Lexicon, read_lexicon
from semascope.corpus.matrices import lexicon_of_columns, matrix_of_rows, rows_of_matrix
from semascope.corpus.notebook import render_corpus
from semascope.corpus.readers.record_fields import document_schema
from semascope.corpus.shards import ShardRef, as_read_only, cut_shards, read_only, shard_of
from semascope.corpus.stored_shards import StoredShard
from semascope.corpus.text import multilingual as by_language
from semascope.corpus.text.analyzer import Analyzer, Analyzers, analyzers_of, read_analyzers
from semascope.errors import FormatError, InputError
from semascope.kernels.csr import renumber
from semascope.storage import Directory, open_directory, writing

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Corpus:
    """Documents as word counts.

    Create one with `build`, `from_texts`, `from_tokens` or `from_matrix`; store it with `save` and load it with `open`.

    Attributes
    ----------
    vocabulary : ndarray of str
        The words; word j is column j of the counts. Built from text, they are sorted by language, then by falling frequency.
    lexicon : Lexicon
        The words with their languages, as stored in models.
    languages : tuple of str
        Codes of the languages; ``("",)`` is a single unnamed language.
    word_languages : ndarray of int32
        Number of the language of each word.
    documents : polars.DataFrame
        One row per document: ``id``, ``labels``, and ``text`` and further fields if any. With several languages, ``text`` is a
        struct with a field for each.
    analyzer : Analyzer, dict of language to Analyzer, or None
        The analyzer that turned the texts into words.
    path : Path or None
        Location on disk; None if the corpus is in memory.

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

    A text may be a mapping of language to text. The same spelling in two languages is two words:

    >>> corpus = Corpus.from_texts([{"en": "war and peace", "de": "es war"}, {"de": "war es"}])
    >>> corpus.languages, corpus.vocabulary.tolist(), corpus.word_languages.tolist()
    (('en', 'de'), ['and', 'peace', 'war', 'es', 'war'], [0, 0, 0, 1, 1])
    >>> corpus.in_language("en")
    <Corpus: 1 documents, 3 words, 3 tokens>
    """

    def __init__(
        self,
        rows: CSR,
        lexicon: Lexicon,
        documents: Mapping[str, Any] | pl.DataFrame,
        analyzer: Analyzers | None,
    ) -> None:
        self._rows = read_only(rows)
        self._lexicon = lexicon
        self.analyzer = analyzer
        self._given_documents = documents

    # --- construction ------------------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        documents: Source | Any,
        analyzer: Analyzers | None = None,
        *,
        path: str | Path | None = None,
        vocabulary: Lexicon | pl.Series | None = None,
        extend: bool = False,
        language: str | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> Corpus:
        """Build a corpus from the result of `semascope.read` or `semascope.read_counts`, from a frame, or from a Bunch.

        Parameters
        ----------
        documents : Documents, CountedDocuments, frame, or Bunch
            A polars, pandas or Arrow table needs a column ``text`` of strings, or of structs with a field for each language;
            use `semascope.read` for other names. A Bunch from scikit-learn's text loaders keeps its labels.
        analyzer : Analyzer or dict of language to Analyzer, optional
            Settings that define the words. Its limits apply to each language separately, over the documents that have it.
        path : path, optional
            Write the corpus to this path block by block instead of holding it in memory, which it may exceed.
        vocabulary : Lexicon or polars.Series, optional
            Count only these words, for example those of a model. Only for a corpus in memory.
        extend : bool, default=False
            Append new words to the vocabulary; the limits of the analyzer apply only to these.
        language : str, optional
            Language of the texts, if they do not name it themselves.
        watch : callable, optional
            Called with the number of documents read so far.
        """
        source = documents if isinstance(documents, Source) else in_memory(documents)
        if path is not None and vocabulary is not None:
            msg = "a corpus on disk has its own vocabulary; give a path or a vocabulary, not both."
            raise InputError(msg)
        lexicon = _lexicon_of(vocabulary, language)
        analyzers = analyzer or Analyzer()
        blocks = blocks_of(source, language, None if lexicon is None else lexicon.languages)
        counter = counter_for(source, analyzers, language)
        with name_source_in_errors(source):
            if path is None:
                return cls._built(blocks, counter, MemorySink(), analyzers, lexicon, extend=extend, watch=watch)
            with writing(path, LAYOUT) as draft, CorpusWriter(draft) as sink:
                build_corpus(blocks, counter, sink, analyzers, watch=watch)
        return cls.open(path)

    @classmethod
    def _built(
        cls,
        blocks: Iterable[Block],
        counter: Callable[[Pieces], CorpusCounter],
        sink: MemorySink,
        analyzers: Analyzers,
        vocabulary: Lexicon | None = None,
        *,
        extend: bool = False,
        watch: Callable[[int], None] | None = None,
    ) -> Corpus:
        """Build a corpus in memory, over its own words or over a vocabulary."""
        vocabulary = build_corpus(blocks, counter, sink, analyzers, vocabulary=vocabulary, extend=extend, watch=watch)
        corpus = cls(*sink.contents)
        return corpus if vocabulary is None else corpus.reindexed(vocabulary)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str | Mapping[str, str | None]],
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        analyzer: Analyzers | None = None,
        vocabulary: Lexicon | pl.Series | None = None,
        extend: bool = False,
        language: str | None = None,
    ) -> Corpus:
        """Build a corpus from texts in memory; `labels` holds one label or a list of labels per text.

        A text is a string, or a mapping of language to text, which may lack languages. `language` is that of plain strings.
        With a `vocabulary`, for example a model's, only its words are counted; with `extend`, new words are appended to it.

        Examples
        --------
        >>> both = Corpus.from_texts([{"en": "the war", "de": "es war"}])
        >>> new = Corpus.from_texts(["war es der"], language="de", vocabulary=both.lexicon)
        >>> new.vocabulary.tolist(), new.counts.toarray().tolist()
        (['the', 'war', 'es', 'war'], [[0.0, 0.0, 1.0, 1.0]])
        """
        if isinstance(texts, str | Mapping):
            msg = "expected several texts; put the one text into a list."
            raise InputError(msg)
        lexicon = _lexicon_of(vocabulary, language)
        analyzers = analyzer or Analyzer()
        wanted = None if lexicon is None else lexicon.languages
        found = by_language.in_list(list(by_language.of_column(texts)), language, wanted)
        check_has_languages(found, wanted)
        listed = by_language.as_list(found)
        sink = MemorySink(describe_documents(len(listed), ids, labels, listed))
        return cls._built([Block(found)], partial(LanguageCounter, analyzers), sink, analyzers, lexicon, extend=extend)

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Sequence[str]],
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        analyzer: Analyzer | None = None,
    ) -> Corpus:
        """Build a corpus from tokenized documents: lists of words of any script or kind.

        The analyzer's stop words, stemmer, n-grams and limits apply; by default the words are unchanged.

        Examples
        --------
        >>> Corpus.from_tokens([["自然", "言語", "処理"], ["言語"]]).vocabulary
        array(['言語', '処理', '自然'], dtype=object)
        """
        analyzer = analyzer or Analyzer(lowercase=False, min_length=1)
        listed = list(documents)
        sink = MemorySink(describe_documents(len(listed), ids, labels, None))
        return cls._built([Block(listed)], partial(TokenListCounter, analyzer), sink, analyzer)

    @classmethod
    def from_matrix(
        cls,
        X: Any,
        vocabulary: Sequence[str] | Lexicon | None = None,
        *,
        ids: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> Corpus:
        """Build a corpus from a dense or sparse matrix of counts: documents × words, or any two-way table.

        The words are named by `vocabulary`, or else by the columns of a pandas or polars frame. Words of several languages need
        a `Lexicon`.
        """
        rows, n_words = rows_of_matrix(X)
        lexicon = lexicon_of_columns(X, vocabulary, n_words)
        return cls(rows, lexicon, describe_documents(len(rows.ends) - 1, ids, labels, None), None)

    # --- persistence -------------------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: str | Path) -> Corpus:
        """Open a saved corpus; its counts and texts are memory-mapped."""
        return StoredCorpus(open_directory(path, LAYOUT))

    def save(self, path: str | Path) -> None:
        """Save the corpus as a directory; a crash leaves the previous version intact."""
        with writing(path, LAYOUT) as draft, CorpusWriter(draft) as writer:
            writer.documents(self.documents)
            writer.rows(self.rows)
            writer.finish(self.lexicon, self.analyzer)

    # --- contents ----------------------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path | None:
        """Location on disk; None if the corpus is in memory."""
        return None

    @property
    def rows(self) -> CSR:
        """The counts, in the format of the kernels."""
        return self._rows

    @property
    def lexicon(self) -> Lexicon:
        """The words with their languages."""
        return self._lexicon

    @property
    def words(self) -> pl.Series:
        """The vocabulary as a polars series."""
        return self.lexicon.words

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages; ("",) is a single unnamed language."""
        return self.lexicon.languages

    @property
    def word_languages(self) -> NDArray[np.int32]:
        """The number of the language of each word."""
        return self.lexicon.of_word

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.rows.ends) - 1

    @property
    def n_words(self) -> int:
        """Number of distinct words."""
        return len(self.words)

    @cached_property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return float(self.rows.counts.sum(dtype=np.float64))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of counts, words and languages: corpora with equal fingerprints train equal models."""
        digests = [hashlib.blake2b(part, digest_size=16).digest() for part in self.rows]  # type: ignore[arg-type]
        return fingerprint([*digests, self.lexicon.digest()])

    @cached_property
    def documents(self) -> pl.DataFrame:
        """The metadata of the documents, one row each."""
        if isinstance(self._given_documents, pl.DataFrame):
            return self._given_documents
        schema = {**document_schema(()), "text": by_language.column_type(self.languages)}
        return default_ids(pl.DataFrame(self._given_documents, schema_overrides=schema))

    @cached_property
    def vocabulary(self) -> NDArray[np.object_]:
        """The words, as an array of strings."""
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
        """The texts, if the corpus has any: strings, or with several languages structs of language and text.

        ``corpus.texts.struct.field("de")`` holds those of one language, null if a document has none.
        """
        return self.documents["text"] if "text" in self.documents.columns else None

    @cached_property
    def counts(self) -> sp.csr_matrix:
        """The counts as a SciPy matrix, documents × words."""
        return matrix_of_rows(self.rows, self.n_words)

    def shards(self) -> list[ShardRef]:
        """Split the corpus into shards, the units of work."""
        bounds = enumerate(cut_shards(self.rows.ends))
        return [shard_of(self.rows, number, first, last, self.n_words) for number, (first, last) in bounds]

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return f"<Corpus: {self.n_documents:,} documents, {self.n_words:,} words, {self.n_tokens:,.0f} tokens>"

    def _repr_html_(self) -> str:
        return render_corpus(self)

    def reindexed(self, vocabulary: Lexicon | pl.Series) -> Corpus:
        """Return the documents over another vocabulary; words missing from it, by language and spelling, are dropped."""
        lexicon = Lexicon.of(vocabulary)
        if self.lexicon.equals(lexicon):
            return self
        rows = renumber(*self.rows, as_read_only(self.lexicon.numbers_in(lexicon), np.int32), len(lexicon))
        documents = self.documents
        if self.texts is not None:
            documents = documents.with_columns(by_language.in_languages(self.texts, self.languages, lexicon.languages))
        return Corpus(CSR(*rows), lexicon, documents, analyzers_of(self.analyzer, lexicon.languages))

    def aligned(self, vocabulary: Lexicon | pl.Series) -> Corpus:
        """Deprecated alias of `reindexed`."""
        warnings.warn("Corpus.aligned is called reindexed now", DeprecationWarning, stacklevel=2)
        return self.reindexed(vocabulary)

    # --- selection ---------------------------------------------------------------------------------------------------------

    def filter(self, keep: pl.Expr | Sequence[int] | NDArray[Any]) -> Corpus:
        """Select documents; the vocabulary stays the same, so that models of subsets can be compared.

        Parameters
        ----------
        keep : polars expression, boolean array, or document numbers
            An expression is evaluated on `documents`, for example ``pl.col("labels").list.contains("sci.space")``.
        """
        chosen = numbers_of(keep, self.documents) if isinstance(keep, pl.Expr) else numbers_in(keep, self.n_documents)
        taken = self.counts[chosen]
        rows = CSR(taken.indptr.astype(np.int64), taken.indices, taken.data)
        return Corpus(rows, self.lexicon, self.documents[chosen], self.analyzer)

    def in_language(self, *languages: str) -> Corpus:
        """Select the documents that have one of the languages, with the words of these languages only."""
        part = self.reindexed(self.lexicon.only(*languages))
        return self if part is self else part.filter(np.any([self.has_language(one) for one in languages], axis=0))

    def has_language(self, language: str) -> NDArray[np.bool_]:
        """Return a mask of the documents with a text in a language; without texts, of those with a word in it."""
        number = self.lexicon.number_of(language)
        if len(self.languages) == 1:
            return np.ones(self.n_documents, dtype=bool)
        if self.texts is not None:
            return self.texts.struct.field(language).is_not_null().to_numpy()
        of_language = np.flatnonzero(self.word_languages == number)
        return np.asarray(self.counts[:, of_language].sum(axis=1)).ravel() > 0

    def split(self, test: float = 0.1, *, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Split the documents at random into a training and a test set, reproducibly by `seed`.

        Examples
        --------
        >>> train, test = Corpus.from_texts(["a word"] * 10).split(0.3, seed=1)
        >>> len(train), len(test)
        (7, 3)
        """
        if not 0.0 < test < 1.0:
            msg = f"test must be a fraction between 0 and 1, but was {test}."
            raise InputError(msg)
        train, held_out = divide_documents(self.n_documents, test, seed)
        return self.filter(train), self.filter(held_out)


def _lexicon_of(vocabulary: Lexicon | pl.Series | None, language: str | None) -> Lexicon | None:
    """Return the lexicon to count over; if both are named, it must have the language of the texts."""
    lexicon = None if vocabulary is None else Lexicon.of(vocabulary)
    if lexicon is not None and lexicon.is_named and language is not None:
        lexicon.number_of(language)
    return lexicon


# --- stored corpora -----------------------------------------------------------------------------------------------------------


class StoredCorpus(Corpus):
    """A corpus on disk: everything is memory-mapped on first access."""

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
    def rows(self) -> CSR:
        self._check_words()
        return read_only(CSR(*(self._directory.array(name) for name in CSR._fields)))

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
        """Check that the stated number of words matches the lexicon."""
        if len(self.lexicon) != self.n_words:
            msg = f"{self._directory.path}: expected {self.n_words:,} words, found {len(self.lexicon):,}."
            raise FormatError(msg)

    def shards(self) -> list[ShardRef]:
        bounds = enumerate(cut_shards(self._directory.array("ends")))
        return [StoredShard(self.path, self.fingerprint, number, first, last) for number, (first, last) in bounds]


def _problem_of_fields(table: pl.DataFrame, fields: Sequence[str], languages: Sequence[str]) -> str | None:
    """Return what is wrong with the fields of the documents, or None."""
    for name in ("id", "labels", *fields):
        if name not in fields or name not in table.columns:
            return f"expected documents with a field {name!r}, but they have none"
    if table["id"].n_unique() < len(table):
        return "two documents have the same id"
    texts = table.schema.get("text", pl.String())
    found = {field.name for field in texts.fields} if isinstance(texts, pl.Struct) else None
    if (found is None) != (len(languages) == 1) or not (found or set()) <= set(languages):
        return "the texts of the documents are not in the languages of the manifest"
    return None
