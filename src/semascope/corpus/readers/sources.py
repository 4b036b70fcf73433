"""Sources of documents: file formats, their detection, and the entry points `read` and `read_counts`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from semascope.corpus.readers.counts import CountedDocuments, CountOptions, Stream, counted_blocks
from semascope.corpus.readers.csv import open_csv, open_tsv
from semascope.corpus.readers.files import BadRecords, checked_encoding, first_bytes
from semascope.corpus.readers.folder import read_folder
from semascope.corpus.readers.gensim_bow import BAGS, materialize_bags, open_bags
from semascope.corpus.readers.jsonl import read_json_lines
from semascope.corpus.readers.ldac import open_ldac
from semascope.corpus.readers.record_fields import Fields
from semascope.corpus.readers.sklearn_bunch import BUNCH, frame_of_bunch, is_bunch
from semascope.corpus.readers.smart import read_smart
from semascope.corpus.readers.sparse_matrix_files import open_matrix_market, open_uci
from semascope.corpus.readers.standard_library import read_standard_library
from semascope.corpus.readers.tables import (
    IN_MEMORY,
    check_frame,
    is_frame,
    materialize_frame,
    open_arrow,
    open_frame,
    open_parquet,
    read_frame,
    read_table,
)
from semascope.corpus.readers.trec import read_trec
from semascope.corpus.readers.triples import chooser_of_triples, open_triples, triples_of
from semascope.corpus.readers.vocabularies import Vocabulary
from semascope.errors import InputError, SourceError

KEPT_BY_DEFAULT = ("title", "date")

TEXTS = "texts"
"""Default field of texts by language."""


@dataclass
class Documents:
    """Documents of a source, read block by block on each iteration.

    Attributes
    ----------
    source : str
        Name of the source.
    bad : list of str
        Errors of the records that were left out, one sentence each; complete after the blocks have been read.

    Examples
    --------
    >>> documents = read(pl.DataFrame({"text": ["a cat", "a dog"], "labels": ["pets", "pets"]}))
    >>> documents.source, [len(block) for block in documents]
    ('the frame', [2])
    >>> documents.frame()["labels"].to_list()
    [['pets'], ['pets']]
    """

    source: str
    _blocks: Callable[[list[str]], Iterator[pl.DataFrame]]
    bad: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self.bad.clear()
        return self._blocks(self.bad)

    def frame(self) -> pl.DataFrame:
        """Return all documents as one frame."""
        blocks = list(self)
        return pl.concat(blocks) if blocks else pl.DataFrame(schema=Fields().schema)


def read(
    source: Any,
    *,
    format: str | None = None,
    text: str | Sequence[str] | Mapping[str, str | Sequence[str]] = "text",
    texts: str | None = None,
    languages: Sequence[str] | None = None,
    id: str = "id",
    labels: str = "labels",
    label_separator: str | None = None,
    keep: Sequence[str] = KEPT_BY_DEFAULT,
    encoding: str | None = None,
    skip_bad: bool = False,
) -> Documents:
    """Read documents from a source.

    Parameters
    ----------
    source : path, frame, Bunch or "stdlib:"
        A file of JSON lines, CSV, TSV, SMART or TREC (plain or gzipped), Parquet or Arrow; a folder of text files; a frame in
        memory (polars, pandas, Arrow, or any Arrow stream); the Bunch of scikit-learn's `fetch_20newsgroups` or `load_files`,
        with the target names as labels; or "stdlib:" for the docstrings of Python's standard library.
    format : str, optional
        One of "jsonl", "csv", "tsv", "parquet", "arrow", "folder", "smart" and "trec". By default, inferred from the name or
        the first bytes of the file.
    text : str, sequence of str, or mapping of language to these
        Name of the field with the text; the texts of several fields are joined with line breaks. A mapping names the fields of
        each language: ``{"en": "body_en", "de": "body_de"}``.
    texts : str, optional
        Name of a field with an object (a struct) of language and text, instead of `text`. Defaults to "texts" if `languages`
        are given.
    languages : sequence of str, optional
        Languages to read from `texts`, by default all, for which a file of JSON lines is read twice.
    id, labels : str
        Names of the fields with the identifier (documents without one are numbered) and the labels (a string or a list of
        strings).
    label_separator : str, optional
        Separator between labels in one string.
    keep : sequence of str
        Other fields to keep, as strings.
    encoding : str, optional
        Encoding of a text file, by default UTF-8.
    skip_bad : bool, default=False
        Skip records that cannot be read, and list them in ``bad``, instead of raising at the first.

    Returns
    -------
    Documents
        Read lazily: errors in the file are raised when the documents are used. Readers of Arrow batches can be iterated once.

    Examples
    --------
    >>> news = pl.DataFrame({"nr": [1, 2], "body": ["Cats purr.", "Bonds fell."], "topics": ["pets;cats", "money"]})
    >>> documents = read(news, text="body", id="nr", labels="topics", label_separator=";", keep=())
    >>> documents.frame().rows()
    [('1', 'Cats purr.', ['pets', 'cats']), ('2', 'Bonds fell.', ['money'])]
    """
    kept = tuple(dict.fromkeys(name for name in keep if name not in ("id", "text", "labels")))
    of_text = _fields_of_text(text)
    if not of_text or not all(of_text.values()) or label_separator == "":
        msg = "text must name at least one field, and label_separator must not be empty."
        raise InputError(msg)
    texts, wanted = _texts_by_language(texts, languages, named=isinstance(text, Mapping))
    fields = Fields(of_text, id, labels, kept, label_separator, texts, wanted)
    if is_bunch(source):
        frame = frame_of_bunch(source)
        return Documents(BUNCH, lambda bad: read_frame(frame, fields, BadRecords(bad if skip_bad else None)))
    if _is_in_memory(source):
        check_frame(source)
        return Documents(IN_MEMORY, lambda bad: read_frame(source, fields, BadRecords(bad if skip_bad else None)))
    if str(source) == STANDARD_LIBRARY:
        if fields.texts is not None:
            msg = f"{STANDARD_LIBRARY} the docstrings have no field {fields.texts!r} with texts in several languages."
            raise SourceError(msg)
        return Documents(STANDARD_LIBRARY, lambda bad: read_standard_library(kept))
    path, encoding = Path(source), checked_encoding(encoding)
    name = find_format(path, format)
    reader = FORMATS[name].documents
    if reader is None:
        msg = f"{path}: the format {name} holds counts, not texts; use read_counts, or semascope build."
        raise SourceError(msg)
    return Documents(str(path), lambda bad: reader(path, fields, encoding, BadRecords(bad if skip_bad else None)))


def _fields_of_text(text: str | Sequence[str] | Mapping[str, str | Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the text fields of each language."""
    by_language = text if isinstance(text, Mapping) else {"": text}
    return {language: (names,) if isinstance(names, str) else tuple(names) for language, names in by_language.items()}


def _texts_by_language(
    texts: str | None, languages: Sequence[str] | None, *, named: bool
) -> tuple[str | None, tuple[str, ...]]:
    """Return the field of texts by language, and the languages to read from it."""
    if texts is None and languages is None:
        return None, ()
    wanted = () if languages is None else (languages,) if isinstance(languages, str) else tuple(dict.fromkeys(languages))
    problem = None
    if named:
        problem = "text names the fields of each language already; leave out texts and languages"
    elif not all(wanted) or (languages is not None and not wanted):
        problem = "languages must name at least one language, and none may be empty"
    if problem:
        msg = f"{problem}."
        raise InputError(msg)
    return texts or TEXTS, wanted


def read_counts(
    source: Any,
    *,
    format: str | None = None,
    vocabulary: Vocabulary | None = None,
    rows: str = "row",
    columns: str = "column",
    counts: str = "count",
    encoding: str | None = None,
    skip_bad: bool = False,
) -> CountedDocuments:
    """Read documents that are word counts.

    Parameters
    ----------
    source : path, frame or iterable
        An LDA-C file, a UCI bag of words, or a MatrixMarket coordinate file (also from gensim's `MmCorpus`), plain or gzipped;
        a table (CSV, TSV, Parquet, Arrow, or a frame in memory) with a row name, a column name and a count per line; or
        gensim's bags of words, an iterable of lists of (word number, count) pairs.
    format : str, optional
        One of "ldac", "uci", "mtx", "csv", "tsv", "parquet" and "arrow". By default, inferred from the name or the first bytes
        of the file.
    vocabulary : path, sequence of str, or mapping, optional
        The words: a file with one per line, a sequence, or a dictionary of words and their numbers, such as gensim's, the file
        written by its `save_as_text`, or the `vocabulary_` of a vectorizer. The file ``vocab.NAME.txt`` beside a UCI
        ``docword.NAME.txt`` is found automatically.
    rows, columns, counts : str
        Names of the columns of a table.
    encoding : str, optional
        Encoding of a text file, by default UTF-8.
    skip_bad : bool, default=False
        Skip lines that cannot be read, and list them in ``bad``, instead of raising at the first.

    Returns
    -------
    CountedDocuments
        Read lazily, block by block, if entries are sorted by row, as in LDA-C and UCI files and those written by gensim.
        Entries in another order (SciPy writes some matrices by column) are collected in memory and sorted.

    Examples
    --------
    >>> counted = read_counts(pl.DataFrame({"row": ["a", "a"], "column": ["dog", "cat"], "count": [2, 1]}))
    >>> [(frame["id"].to_list(), rows.counts.tolist()) for frame, rows in counted]
    [(['a'], [2.0, 1.0])]
    >>> counted.words.to_list()
    ['dog', 'cat']

    >>> counted = read_counts([[(0, 2), (1, 1)]], vocabulary={0: "dog", 1: "cat"})
    >>> [rows.counts.tolist() for frame, rows in counted]
    [[2.0, 1.0]]
    """
    options = CountOptions(vocabulary, (rows, columns, counts), checked_encoding(encoding))
    if _is_in_memory(source) and isinstance(source, Iterable) and not is_frame(source):
        name, opened = BAGS, partial(open_bags, materialize_bags(source), options)
    elif _is_in_memory(source):
        check_frame(source)
        name, opened = IN_MEMORY, partial(_open_triples_in_memory, materialize_frame(source), options)
    else:
        path = Path(source)
        found = "stdlib" if str(source) == STANDARD_LIBRARY else find_format(path, format)
        opener = None if found == "stdlib" else FORMATS[found].counts
        if opener is None:
            msg = f"{source}: the format {found} holds texts, not counts; use read."
            raise SourceError(msg)
        name, opened = str(path), partial(opener, path, options)
    return CountedDocuments(name, lambda bad: counted_blocks(name, opened, BadRecords(bad if skip_bad else None)))


def _open_triples_in_memory(frame: Any, options: CountOptions, bad: BadRecords) -> Stream:
    return triples_of(open_frame(frame, chooser_of_triples(options, IN_MEMORY)), options, IN_MEMORY, bad)


def _is_in_memory(source: Any) -> bool:
    return not isinstance(source, str | os.PathLike)


STANDARD_LIBRARY = "stdlib:"
"""Name of the docstrings of the running Python's standard library, a corpus available everywhere."""


@dataclass(frozen=True)
class Format:
    """File format: patterns of file names, first bytes, and readers."""

    patterns: tuple[str, ...] = ()
    beginnings: tuple[bytes, ...] = ()
    documents: Callable[[Path, Fields, str | None, BadRecords], Iterator[pl.DataFrame]] | None = None
    counts: Callable[[Path, CountOptions, BadRecords], Stream] | None = None


FORMATS = {
    "jsonl": Format(("*.jsonl", "*.ndjson", "*.json"), (b"{",), documents=read_json_lines),
    "csv": Format(("*.csv",), (), partial(read_table, open_csv), partial(open_triples, open_csv)),
    "tsv": Format(("*.tsv", "*.tab"), (), partial(read_table, open_tsv), partial(open_triples, open_tsv)),
    "parquet": Format(
        ("*.parquet", "*.pq"), (b"PAR1",), partial(read_table, open_parquet), partial(open_triples, open_parquet)
    ),
    "arrow": Format(
        ("*.arrow", "*.feather", "*.ipc"), (b"ARROW1",), partial(read_table, open_arrow), partial(open_triples, open_arrow)
    ),
    "folder": Format(documents=read_folder),
    "smart": Format((), (b".I ",), documents=read_smart),
    "trec": Format((), (b"<DOC", b"<TOP"), documents=read_trec),
    "ldac": Format(("*.ldac",), counts=open_ldac),
    "uci": Format(("docword.*.txt", "docword.txt"), counts=open_uci),
    "mtx": Format(("*.mtx", "*.mm"), (b"%%MATRIXMARKET",), counts=open_matrix_market),
}
"""Formats, detected by file name, or else by the first bytes (upper-cased)."""


def find_format(path: Path, format: str | None) -> str:
    """Return the name of the format, detecting it if not given."""
    if format is not None and format not in FORMATS:
        msg = f"there is no format {format!r}; choose one of {', '.join(FORMATS)}."
        raise InputError(msg)
    if not path.exists():
        msg = f"{path}: no such file."
        raise SourceError(msg)
    if path.is_dir() or format == "folder":
        return _folder(path, format)
    if not path.is_file():
        msg = f"{path}: is a pipe or a device, which cannot be read twice; save it to a file first."
        raise SourceError(msg)
    return format or _by_name(path) or _by_beginning(path)


def _folder(path: Path, format: str | None) -> str:
    if not path.is_dir():
        msg = f"{path}: is a file; expected a folder of text files."
        raise SourceError(msg)
    if format not in (None, "folder"):
        msg = f"{path}: is a directory; expected a file of the format {format}."
        raise SourceError(msg)
    return "folder"


def _by_name(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    return next((one for one, known in FORMATS.items() if any(fnmatch(name, pattern) for pattern in known.patterns)), None)


def _by_beginning(path: Path) -> str:
    start = first_bytes(path).upper()
    if not start:
        msg = f"{path}: there are no documents: the file is empty."
        raise SourceError(msg)
    for name, known in FORMATS.items():
        if start.startswith(known.beginnings):
            return name
    msg = f"{path}: its name and first bytes do not tell the format; name it with --format (format=): {', '.join(FORMATS)}."
    raise SourceError(msg)


def is_counts(source: str | Path, format: str | None = None) -> bool:
    """Return whether a source has a format that only `read_counts` can read."""
    return str(source) != STANDARD_LIBRARY and FORMATS[find_format(Path(source), format)].documents is None
