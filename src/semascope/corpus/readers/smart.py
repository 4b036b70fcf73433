"""SMART collections, such as MED and CACM: records begin with .I, sections with a dot and a capital letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from semascope.corpus.readers.files import BadRecords, lines_of, undecodable
from semascope.corpus.readers.record_fields import Fields, Record, parse_records, records_as_documents

SECTIONS = {
    "T": "title",
    "A": "author",
    "B": "bibliography",
    "C": "categories",
    "K": "keywords",
    "N": "note",
    "W": "text",
    "X": "references",
}
_BEGINS_SECTION = re.compile(rf"\.([{''.join(SECTIONS)}])\s*")


def read_smart(path: Path, fields: Fields, encoding: str | None, bad: BadRecords) -> Iterator[pl.DataFrame]:
    """Yield blocks of documents or queries."""
    return records_as_documents(parse_records(path, _records(path, encoding), _record, bad), fields, str(path))


def _records(path: Path, encoding: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield each record: the number of its first line, and its lines."""
    place, lines = 1, list[str]()
    for number, line in enumerate(lines_of(path, encoding), start=1):
        if _identifier(line):
            if "".join(lines).strip():
                yield place, lines
            place, lines = number, []
        lines.append(line)
    if "".join(lines).strip():
        yield place, lines


def _identifier(line: str) -> str | None:
    return line[2:].strip() or None if line.startswith(".I") and line[2].isspace() else None


def _record(lines: list[str]) -> Record:
    problem = undecodable("".join(lines))
    if problem:
        raise ValueError(problem)
    identifier = _identifier(lines[0])
    if identifier is None:
        msg = "expected a record to begin with .I and an identifier"
        raise ValueError(msg)
    sections: dict[str, list[str]] = {}
    section: list[str] | None = None
    for line in lines[1:]:
        letter = _BEGINS_SECTION.fullmatch(line)
        if letter:
            section = sections.setdefault(SECTIONS[letter[1]], [])
        elif section is not None:
            section.append(line)
        elif line.strip():
            msg = f"the record {identifier} has text before its first section, a line such as .W or .T"
            raise ValueError(msg)
    # The text is kept verbatim, except for the line break before the next section.
    contents = {name: "".join(section) for name, section in sections.items()}
    return {"id": identifier} | {
        name: content.removesuffix("\n") if name == "text" else content.strip() for name, content in contents.items()
    }
