"""Files that corpora are built from, and journals of streams: every format, written small and then spoiled."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.attacks.fixtures import FIELDS, MAGIC, journal_record, records, sealed_body

Mutation = Callable[[bytes, np.random.Generator], bytes]


def write_all(home: Path) -> Path:
    """Write a source of every format that is not there yet."""
    home.mkdir(parents=True, exist_ok=True)
    for name, make in SOURCES.items():
        if not (home / name).exists():
            (home / name).write_bytes(make())
    (home / "vocab.small.txt").write_text("".join(f"word{number}\n" for number in range(8)))
    return home


def _jsonl() -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records(12)).encode()


def _delimited(separator: str) -> bytes:
    lines = [separator.join(("id", "text", "labels"))]
    lines += [separator.join((one["id"], f'"{one["text"]}"', one["labels"][0])) for one in records(12)]
    return "\n".join(lines).encode()


def _frame(method: str) -> bytes:
    import polars as pl

    file = io.BytesIO()
    getattr(pl.DataFrame(records(12)), method)(file)
    return file.getvalue()


def _counts() -> np.ndarray:
    return np.random.default_rng(1).poisson(1.0, (6, 8))


def _ldac() -> bytes:
    rows = [[f"{word}:{n}" for word, n in enumerate(row) if n] for row in _counts()]
    return "".join(f"{len(row)} {' '.join(row)}\n" for row in rows).encode()


def _uci() -> bytes:
    counts = _counts()
    entries = [f"{d + 1} {w + 1} {counts[d, w]}" for d, w in zip(*np.nonzero(counts), strict=True)]
    return "\n".join(["6", "8", str(len(entries)), *entries, ""]).encode()


def _matrix_market() -> bytes:
    counts = _counts()
    entries = [f"{d + 1} {w + 1} {counts[d, w]}" for d, w in zip(*np.nonzero(counts), strict=True)]
    head = ["%%MatrixMarket matrix coordinate real general", f"6 8 {len(entries)}"]
    return "\n".join([*head, *entries, ""]).encode()


def _smart() -> bytes:
    documents = [f".I {number}\n.T\n{one['title']}\n.W\n{one['text']}\n" for number, one in enumerate(records(12), 1)]
    return "".join(documents).encode()


def _trec() -> bytes:
    documents = [f"<DOC>\n<DOCNO> {one['id']} </DOCNO>\n<TEXT>\n{one['text']}\n</TEXT>\n</DOC>\n" for one in records(12)]
    return "".join(documents).encode()


SOURCES: dict[str, Callable[[], bytes]] = {
    "docs.jsonl": _jsonl,
    "docs.jsonl.gz": lambda: gzip.compress(_jsonl(), mtime=0),
    "docs.csv": lambda: _delimited(","),
    "docs.tsv": lambda: _delimited("\t"),
    "docs.parquet": lambda: _frame("write_parquet"),
    "docs.arrow": lambda: _frame("write_ipc"),
    "counts.ldac": _ldac,
    "docword.small.txt": _uci,
    "counts.mtx": _matrix_market,
    "docs.smart": _smart,
    "docs.trec": _trec,
}

FORMATS = {
    "docs.smart": "smart", "docs.trec": "trec", "counts.ldac": "ldac", "docword.small.txt": "uci", "counts.mtx": "mtx",
}  # fmt: skip
"""Where the name of a file does not tell its format for certain."""

COUNTS = ("counts.ldac", "docword.small.txt", "counts.mtx")


# --- mutations -------------------------------------------------------------------------------------------------------------


def _flips(n: int) -> Mutation:
    def mutate(content: bytes, rng: np.random.Generator) -> bytes:
        flipped = bytearray(content)
        for place in rng.integers(len(content), size=n):
            flipped[place] ^= 1 << rng.integers(8)
        return bytes(flipped)

    return mutate


def _inserted(piece: bytes) -> Mutation:
    def mutate(content: bytes, rng: np.random.Generator) -> bytes:
        place = int(rng.integers(len(content)))
        return content[:place] + piece + content[place:]

    return mutate


def _number(value: bytes, among: int = 10**9) -> Mutation:
    """Write another number in the place of one of the first so many."""

    def mutate(content: bytes, rng: np.random.Generator) -> bytes:
        found = list(re.finditer(rb"\d+", content))[:among]
        if not found:
            return content
        chosen = found[rng.integers(len(found))]
        return content[: chosen.start()] + value + content[chosen.end() :]

    return mutate


def _shuffled(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[place] for place in rng.permutation(len(lines)))


MUTATIONS: dict[str, Mutation] = {
    "a bit": _flips(1),
    "ten bits": _flips(10),
    "200 bits": _flips(200),
    "cut anywhere": lambda content, rng: content[: int(rng.integers(len(content)))],
    "start cut off": lambda content, rng: content[int(rng.integers(len(content))) :],
    "empty": lambda content, rng: b"",
    "zeros": lambda content, rng: bytes(len(content)),
    "noise": lambda content, rng: rng.bytes(len(content)),
    "twice": lambda content, rng: content + content,
    "lines shuffled": _shuffled,
    "a null byte": _inserted(b"\0"),
    "not UTF-8": _inserted(b"\xff\xfe\xc0"),
    "a quote": _inserted(b'"'),
    "100,000 brackets": _inserted(b"[" * 100_000),
    "a long line": _inserted(b"x" * 3_000_000),
    "a number of 30 digits": _number(b"9" * 30),
    "a number of 5,000 digits": _number(b"9" * 5_000),
    "minus one": _number(b"-1"),
    "NaN": _number(b"nan"),
    "2**31": _number(str(2**31).encode()),
    "1e308": _number(b"1e308"),
    "header: 10**12": _number(b"1000000000000", 4),
    "header: 2**63": _number(str(2**63).encode(), 4),
    "header: minus one": _number(b"-1", 4),
    "header: zero": _number(b"0", 4),
    "a million words": _number(b"1000000:1"),
}


# --- journals --------------------------------------------------------------------------------------------------------------

JOURNAL = "journal-000000001"

_GOOD = {"source": "-", "line": 4, "position": {"line": 4, "crc": 0}, "fields": FIELDS}


def _sealed(*parts: bytes, number: int = 1) -> Mutation:
    return lambda content, rng: MAGIC + journal_record(number, parts)


def _facts(**changes: object) -> Mutation:
    """Seal a record whose facts are not what they should be."""
    said = {name: value for name, value in (_GOOD | changes).items() if value != "gone"}
    return _sealed(json.dumps(said).encode(), b'{"text": "w0x1 w0x2", "labels": ["cats"]}')


def _body(body: bytes) -> Mutation:
    """Seal a record that is not made of parts."""
    return lambda content, rng: MAGIC + sealed_body(1, body)


JOURNALS: dict[str, Mutation] = {
    **{name: MUTATIONS[name] for name in ("a bit", "ten bits", "cut anywhere", "empty", "zeros", "noise", "a null byte")},
    "records twice": lambda content, rng: content + content[len(MAGIC) :],
    "a length that lies": _body((2**30).to_bytes(4, "little") + b"{}"),
    "three bytes": _body(b"abc"),
    "no bytes": _body(b""),
    "facts are no JSON": _sealed(b"{", b"{}"),
    "facts are not UTF-8": _sealed(b"\xff\xfe", b"{}"),
    "facts are a list": _sealed(b"[]", b"{}"),
    "facts are empty": _sealed(b"{}", b"{}"),
    "facts are 100,000 brackets": _sealed(b"[" * 100_000, b"{}"),
    "fields gone": _facts(fields="gone"),
    "fields null": _facts(fields=None),
    "fields unknown": _facts(fields={"other": 1, "text": ["text"]}),
    "fields of numbers": _facts(fields={"text": [1], "labels": 2, "id": 3}),
    "line is a text": _facts(line="four"),
    "line is huge": _facts(line=10**30),
    "source is a list": _facts(source=["a"]),
    "source gone": _facts(source="gone"),
    "position is a text": _facts(position="there"),
    "position of texts": _facts(position={"line": "four", "crc": []}),
    "position gone": _facts(position="gone"),
    "number of tomorrow": _sealed(json.dumps(_GOOD).encode(), number=7),
    "number of 2**63": _sealed(json.dumps(_GOOD).encode(), number=2**63),
    "line of 100,000 brackets": _sealed(json.dumps(_GOOD).encode(), b"[" * 100_000),
    "line of other types": _sealed(json.dumps(_GOOD).encode(), b'{"text": {"a": 1}, "labels": [[1], {"b": 2}]}'),
    "line not UTF-8": _sealed(json.dumps(_GOOD).encode(), b'{"text": "\xff"}'),
    "line of half a character": _sealed(json.dumps(_GOOD).encode(), b'{"text": "\\ud800 w0x1", "labels": ["\\udfff"]}'),
}
