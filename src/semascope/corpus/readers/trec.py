"""TREC collections: tagged documents and topics, and relevance judgments (qrels)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from semascope.corpus.readers.files import BadRecords, checked_encoding, lines_of, undecodable
from semascope.corpus.readers.record_fields import Fields, Record, parse_records, records_as_documents
from semascope.errors import SourceError

DOCUMENT_FIELDS = {"docno": "id", "head": "title", "headline": "title"}
"""Tags renamed in documents; all other tags become fields of the same name, in lower case."""
TOPIC_FIELDS = {"num": "id", "desc": "description", "narr": "narrative"}
"""The same for topics."""

_BEGINS = re.compile(r"<(doc|top)(?:\s[^<>]*)?>", re.IGNORECASE)
_ENDS = re.compile(r"</(doc|top)\s*>", re.IGNORECASE)
_OPENS = re.compile(r"<([a-z][\w.-]*)(?:\s[^<>]*)?>", re.IGNORECASE)
_TAG = re.compile(r"<!--.*?-->|</?[a-z][^<>]*>", re.IGNORECASE | re.DOTALL)
_HEADING = re.compile(r"\s*(?:Number|Topic|Description|Narrative|Domain|Summary|Concepts?(?:\(s\))?)\s*:", re.IGNORECASE)


def read_trec(path: Path, fields: Fields, encoding: str | None, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Yield blocks of documents, or of topics with the title as text."""
    return records_as_documents(parse_records(path, _records(path, encoding), _record, bad), fields, str(path))


def _records(path: Path, encoding: str | None) -> Iterator[tuple[int, str]]:
    """Yield each record: the number of its first line, and its text from opening to closing tag."""
    place, parts = 1, list[str]()
    for number, line in enumerate(lines_of(path, encoding), start=1):
        rest = line
        while rest:
            end = _ENDS.search(rest) if "</" in rest else None
            part, rest = (rest, "") if end is None else (rest[: end.end()], rest[end.end() :])
            if not parts:
                place = number
            if parts or part.strip():
                parts.append(part)
            if end is not None:
                yield place, "".join(parts)
                parts = []
    if "".join(parts).strip():
        yield place, "".join(parts)


def _record(text: str) -> Record:
    problem = undecodable(text)
    if problem:
        raise ValueError(problem)
    beginning, end = _BEGINS.match(text), _ENDS.search(text)
    if beginning is None:
        msg = "expected <DOC> or <top>"
        raise ValueError(msg)
    if end is None or end[1].lower() != beginning[1].lower():
        msg = f"<{beginning[1]}> is never closed by </{beginning[1]}>"
        raise ValueError(msg)
    body = text[beginning.end() : end.start()]
    if _BEGINS.search(body):
        msg = f"<{beginning[1]}> is not closed before the next begins"
        raise ValueError(msg)
    return _topic(body) if beginning[1].lower() == "top" else _document(body)


def _document(body: str) -> Record:
    """Parse a document, whose tags are closed. Tags inside a field are removed, and repeated fields are concatenated."""
    record: dict[str, str | None] = {}
    position = 0
    while opens := _OPENS.search(body, position):
        closes = re.compile(rf"</{re.escape(opens[1])}\s*>", re.IGNORECASE).search(body, opens.end())
        if closes is None:
            msg = f"<{opens[1]}> is never closed by </{opens[1]}>"
            raise ValueError(msg)
        tag = opens[1].lower()
        _add(record, DOCUMENT_FIELDS.get(tag, tag), _plain(body[opens.end() : closes.start()]))
        position = closes.end()
    return record


def _topic(body: str) -> Record:
    """Parse a topic, whose tags need not be closed: a field ends where the next begins."""
    record: dict[str, str | None] = {}
    tags = list(_OPENS.finditer(body))
    for number, opens in enumerate(tags):
        end = tags[number + 1].start() if number + 1 < len(tags) else len(body)
        tag = opens[1].lower()
        content = body[opens.end() : end]
        _add(
            record,
            TOPIC_FIELDS.get(tag, tag),
            _plain(_HEADING.sub("", content, count=1) if _HEADING.match(content) else content),
        )
    return {"text": record.get("title")} | record


def _add(record: dict[str, str | None], name: str, content: str) -> None:
    there = record.get(name)
    record[name] = content if not there else f"{there}\n{content}"


def _plain(content: str) -> str:
    return html.unescape(_TAG.sub(" ", content)).strip()


def read_qrels(path: str | Path, *, encoding: str | None = None) -> pl.DataFrame:
    """Read relevance judgments in trec_eval's format: lines of query, iteration, document and relevance.

    Returns
    -------
    polars.DataFrame
        Columns ``query`` and ``document``, strings, and ``relevance``, whole numbers; in the order of the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "qrels.txt"
    ...     _ = path.write_text("1 0 AP880212 1\\n1 0 AP880213 0\\n")
    ...     judged = read_qrels(path)
    >>> judged.rows()
    [('1', 'AP880212', 1), ('1', 'AP880213', 0)]
    """
    path = Path(path)
    if not path.is_file():
        msg = f"{path}: no such file."
        raise SourceError(msg)
    places: dict[tuple[str, str], int] = {}
    relevances: list[int] = []
    for number, line in enumerate(lines_of(path, checked_encoding(encoding)), start=1):
        if not line.strip():
            continue
        query, document, relevance = _judgment(f"{path}, line {number}", line)
        first = places.setdefault((query, document), number)
        if first != number:
            msg = f"{path}, line {number}: query {query} and document {document} were already judged on line {first}."
            raise SourceError(msg)
        relevances.append(relevance)
    if not places:
        msg = f"{path}: the file is empty; expected relevance judgments."
        raise SourceError(msg)
    pairs = {"query": [query for query, _ in places], "document": [document for _, document in places]}
    return pl.DataFrame(pairs | {"relevance": relevances}, schema_overrides={"relevance": pl.Int64})


def _judgment(where: str, line: str) -> tuple[str, str, int]:
    problem, cells = undecodable(line), line.split()
    if problem is None and len(cells) != 4:
        problem = f"expected query, iteration, document and relevance, found {len(cells)} values"
    elif problem is None and not re.fullmatch(r"[+-]?\d{1,9}", cells[3], re.ASCII):
        problem = f"the relevance {cells[3]!r} is not a whole number"
    if problem is not None:
        msg = f"{where}: {problem}."
        raise SourceError(msg)
    return cells[0], cells[2], int(cells[3])
