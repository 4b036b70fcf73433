"""Readers of word lists: JSON, LIWC dictionaries and plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semascope.corpus.readers.files import checked_encoding
from semascope.errors import SourceError


@dataclass
class WordList:
    """Words of a category, with file and line in `place`."""

    name: str
    words: list[str]
    place: str
    strength: Any = None


@dataclass
class WordLists:
    """Categories of a file; `skipped` lists unusable entries."""

    by_name: dict[str, WordList] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def add(self, new: WordList) -> None:
        """Add a category; names must be unique."""
        if new.name in self.by_name:
            msg = f"{new.place}: there are two categories {new.name!r}; rename one of them."
            raise SourceError(msg)
        self.by_name[new.name] = new


def read_word_lists(path: Path, encoding: str | None = None) -> WordLists:
    """Read a file of word lists, with the format inferred from its suffix or first characters."""
    text = _text(path, encoding)
    start = text.lstrip()
    if path.suffix.lower() == ".json" or (path.suffix.lower() != ".dic" and start.startswith("{")):
        found = _read_json(path, text)
    elif path.suffix.lower() == ".dic" or start.startswith("%"):
        found = _read_dic(path, text)
    else:
        found = _read_lines(path, text)
    if not found.by_name:
        msg = f"{path}: there are no categories."
        raise SourceError(msg)
    return found


def is_word(text: str) -> bool:
    """Return whether a string is a word or a prefix pattern (``nasa*``)."""
    return "*" not in text[:-1] and text not in ("", "*")


def _text(path: Path, encoding: str | None) -> str:
    encoding = checked_encoding(encoding) or "utf-8-sig"
    if not path.is_file():
        msg = f"{path}: no such file."
        raise SourceError(msg)
    try:
        return path.read_bytes().decode(encoding)
    except UnicodeError as error:
        line = 1 + (error.object.count(b"\n", 0, error.start) if isinstance(error, UnicodeDecodeError) else 0)
        name = encoding.removesuffix("-sig").upper()
        msg = f"{path}, line {line}: is not {name}; specify its encoding."
        raise SourceError(msg) from None


def _lines(path: Path, text: str) -> Iterator[tuple[str, str]]:
    """Yield nonblank lines with file and line number."""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if line.strip():
            yield f"{path}, line {number}", line


# --- plain text ----------------------------------------------------------------------------------------------------------


def _read_lines(path: Path, text: str) -> WordLists:
    """Parse one category per line, ``name: word word, word*``; without a name, the first word is the name."""
    found = WordLists()
    for place, line in _lines(path, text):
        name, colon, rest = line.partition(":")
        words = (rest if colon else line).replace(",", " ").split()
        if not words:
            msg = f"{place}: there are no words after {line.strip()!r}."
            raise SourceError(msg)
        found.add(WordList(name.strip() if colon else words[0].rstrip("*"), words, place))
    return found


# --- JSON ----------------------------------------------------------------------------------------------------------------


def _read_json(path: Path, text: str) -> WordLists:
    """Parse an object of category -> list of words, or -> {"words": list of words, "strength": number}."""
    try:
        body = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        msg = f"{path}, line {error.lineno}: is not valid JSON ({error.msg})."
        raise SourceError(msg) from None
    except (ValueError, RecursionError) as error:
        msg = f"{path}: is not valid JSON ({error})."
        raise SourceError(msg) from None
    if not isinstance(body, _Pairs):
        msg = f'{path}: expected an object of lists of words, such as {{"space": ["orbit", "nasa*"]}}.'
        raise SourceError(msg)
    found = WordLists()
    for name, value in body:
        words, strength = value, None
        if isinstance(value, _Pairs) and {key for key, _ in value} <= {"words", "strength"}:
            words, strength = dict(value).get("words"), dict(value).get("strength")
        if not _is_list_of_strings(words):
            msg = f'{path}: category {name!r} must be a list of words, or {{"words": list, "strength": number}}.'
            raise SourceError(msg)
        found.add(WordList(name, words, str(path), strength))
    return found


class _Pairs(list[tuple[str, Any]]):
    """JSON object as a list of pairs, which preserves duplicate keys."""


def _is_list_of_strings(value: Any) -> bool:
    return isinstance(value, list) and not isinstance(value, _Pairs) and all(isinstance(word, str) for word in value)


# --- LIWC ----------------------------------------------------------------------------------------------------------------


def _read_dic(path: Path, text: str) -> WordLists:
    """Parse numbered categories between two lines of ``%``, then words with category numbers.

    Conditional entries such as ``(02 134)125/464``, undeclared category numbers and words with a ``*`` before the end are
    skipped.
    """
    lines = _lines(path, text)
    found, by_number = WordLists(), _read_head(path, lines)
    for numbered in by_number.values():
        found.add(numbered)
    for place, line in lines:
        word, *codes = _fields(line)
        if not codes:
            msg = f"{place}: the word {word!r} has no category."
            raise SourceError(msg)
        usable = [by_number[number] for number in map(_number, codes) if number in by_number]
        if len(usable) < len(codes) or not is_word(word):
            found.skipped.append(f"{place}: {line.strip()}")
        for category in usable if is_word(word) else []:
            category.words.append(word)
    return found


def _read_head(path: Path, lines: Iterator[tuple[str, str]]) -> dict[int, WordList]:
    """Read the categories by number."""
    by_number: dict[int, WordList] = {}
    place, line = next(lines, (f"{path}, line 1", ""))
    if line.strip() != "%":
        msg = f"{place}: expected a line of % before the categories, found {line.strip()!r}."
        raise SourceError(msg)
    for place, line in lines:
        if line.strip() == "%":
            return by_number
        code, _, name = " ".join(line.split()).partition(" ")
        number = _number(code)
        if number is None or not name:
            msg = f"{place}: expected the number of a category and its name, found {line.strip()!r}."
            raise SourceError(msg)
        if number in by_number:
            msg = f"{place}: there are two categories of number {number}."
            raise SourceError(msg)
        by_number[number] = WordList(name, [], place)
    msg = f"{place}: expected a line of % after the categories."
    raise SourceError(msg)


def _fields(line: str) -> list[str]:
    """Split a line into the word and its codes, after tabs or blanks; conditions may contain blanks."""
    word, tab, rest = line.strip().partition("\t")
    if not tab:  # a phrase: "kind of 125 126"
        numbers = re.search(r"(?:\s+[\d/()<>]\S*)+$", word)
        return [word[: numbers.start()], *numbers.group().split()] if numbers else [word]
    parts = [part.strip() for part in rest.split("\t") if part.strip()]
    return [word.strip(), *(code for part in parts for code in ([part] if re.search("[(<]", part) else part.split()))]


def _number(code: str) -> int | None:
    return int(code) if re.fullmatch(r"\d{1,9}", code) else None
