"""Vocabularies of count data: files with a word per line, sequences, and dictionaries of words and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semascope.corpus.readers.files import lines_of, undecodable
from semascope.errors import SourceError

Vocabulary = str | Path | Sequence[str] | Mapping[Any, Any]
"""A file, the words, or a mapping between words and numbers."""

_NUMBERED_LINE = re.compile(r"(\d{1,9})\t([^\t]+)\t\d+\s*")
"""A line of a gensim dictionary saved as text: number, word, document frequency."""
_MAX_GAPS = 1 << 20


class NumberedWords(list[str]):
    """Words of a dictionary, by number, perhaps more than the documents use. "x7" stands for number 7 if it has no word."""


def read_vocabulary(source: Vocabulary, encoding: str | None) -> list[str]:
    """Read words from a file, a sequence, or a dictionary such as gensim's or the `vocabulary_` of a vectorizer."""
    words: list[str]
    if isinstance(source, Mapping):
        words, where = _by_number(_numbers_first(source), "the vocabulary"), "the vocabulary, word"
    elif not isinstance(source, str | Path):
        words, where = [str(word) for word in source], "the vocabulary, word"
    else:
        words, where = _of_file(Path(source), encoding)
    _check_words(words, where)
    return words


def _of_file(path: Path, encoding: str | None) -> tuple[list[str], str]:
    if not path.is_file():
        msg = f"{path}: no such vocabulary file; expected one word per line."
        raise SourceError(msg)
    with path.open("rb") as file:
        if file.read(1) == b"\x80":
            msg = f"{path}: is a pickle, which could run any code; write the dictionary again with save_as_text."
            raise SourceError(msg)
    lines = list(lines_of(path, encoding))
    has_size = len(lines) > 1 and lines[0].strip().isdigit()  # number of documents of the dictionary
    numbered = [_NUMBERED_LINE.fullmatch(line) for line in lines[has_size:] if line.strip()]
    if numbered and all(numbered):
        pairs = [(int(found[1]), found[2]) for found in numbered if found]
        return _by_number(pairs, str(path)), f"{path}, word"
    words = [line.strip() for line in lines]
    while words and not words[-1]:
        words.pop()
    return words, f"{path}, line"


def _numbers_first(dictionary: Mapping[Any, Any]) -> list[tuple[int, str]]:
    """Return pairs of number and word from a mapping in either direction."""
    pairs = [(key, value) if isinstance(value, str) else (value, key) for key, value in dictionary.items()]
    for number, word in pairs:
        if not isinstance(word, str) or isinstance(number, bool) or not hasattr(number, "__index__"):
            msg = f"the vocabulary: expected words and their numbers, found {number!r} and {word!r}."
            raise SourceError(msg)
    return [(int(number), word) for number, word in pairs]


def _by_number(pairs: list[tuple[int, str]], source: str) -> NumberedWords:
    """Sort words by number."""
    numbers = {number for number, _ in pairs}
    if len(numbers) < len(pairs) or min(numbers, default=0) < 0:
        msg = f"{source}: each word needs its own number, of at least 0."
        raise SourceError(msg)
    n_words = max(numbers, default=-1) + 1
    if n_words > len(pairs) + _MAX_GAPS:
        msg = f"{source}: the numbers go to {n_words - 1:,}, but there are {len(pairs):,} words; fix the numbers."
        raise SourceError(msg)
    words = NumberedWords(f"x{number}" for number in range(n_words))
    for number, word in pairs:
        words[number] = word
    return words


def _check_words(words: list[str], where: str) -> None:
    places: dict[str, int] = {}
    for number, word in enumerate(words, start=1):
        problem = undecodable(word) if word else "expected a word, found nothing"
        first = places.setdefault(word, number)
        if problem is None and first != number:
            problem = f"the word {word!r} is already at {first:,}; each column needs its own word"
        if problem is not None:
            msg = f"{where} {number}: {problem}."
            raise SourceError(msg)
