"""What a line of a stream holds: a document with its labels, or a reason why it cannot be read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from semascope.corpus.readers.jsonl import explained, kind_of, record_in

MAX_LINE_LENGTH = 1 << 24
"""Bytes of a line; what is longer is no document, and is never in memory whole."""
KEPT_OF_LONGER = 1000
"""Bytes that are kept of such a line."""
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line without its end; of one that is too long only the beginning."""

    content: bytes
    too_long: bool = False


class Document(NamedTuple):
    """What is learned from a line."""

    id: str | None
    text: str
    labels: list[str]


class UnreadableError(ValueError):
    """A line holds no document; the message says why."""


@dataclass(frozen=True)
class StreamFields:
    """The names that lines have for what becomes a document.

    text             fields whose values are joined, a line break between them; those that are not there are left out
    labels           field of a label or a list of them; a document without it has no labels
    id               field of the identifier, which is only told
    label_separator  what stands between labels in one string
    """

    text: tuple[str, ...] = ("text",)
    labels: str = "labels"
    id: str = "id"
    label_separator: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for the journal."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> StreamFields:
        """Make it of what `to_dict` gave."""
        return cls(**{**plain, "text": tuple(plain["text"])})

    def document(self, line: Line) -> Document | None:
        """Return the document in a line; None when the line is blank.

        Raises
        ------
        UnreadableError
            When the line holds no document.
        """
        if line.too_long:
            msg = f"longer than {MAX_LINE_LENGTH >> 20} MB; only its beginning is kept here"
            raise UnreadableError(msg)
        content = without_mark(line.content)
        if not content.strip():
            return None
        try:
            record = record_in(content)
        except UnicodeDecodeError as error:
            msg = f"not UTF-8 (byte 0x{content[error.start]:02x} at position {error.start})"
            raise UnreadableError(msg) from None
        except (ValueError, RecursionError) as error:
            raise UnreadableError(explained(error)) from None
        text = self._text(record)
        found = record.get(self.id)
        return Document(None if found is None else str(found), text, self._labels(record))

    def _text(self, record: dict[str, Any]) -> str:
        there = [name for name in self.text if name in record]
        if not there:
            msg = f"there is no field {' or '.join(map(repr, self.text))}"
            raise UnreadableError(msg)
        return "\n".join(_string(name, record[name]) for name in there)

    def _labels(self, record: dict[str, Any]) -> list[str]:
        """Return the labels, each once. An empty string is none, nor is null."""
        value = record.get(self.labels)
        listed = value if isinstance(value, list) else [value]
        labels = [_string(self.labels, label) for label in listed if label is not None]
        if self.label_separator is not None:
            labels = [part.strip() for label in labels for part in label.split(self.label_separator)]
        return list(dict.fromkeys(label for label in labels if label))


def without_mark(content: bytes) -> bytes:
    """Return a line without the mark (BOM) that some programs begin files with."""
    return content.removeprefix(_BOM)


def _string(name: str, value: Any) -> str:
    problem = None
    if not isinstance(value, str):
        problem = f"should hold strings, but there is {kind_of(value)}"
    elif "\0" in value:
        problem = "holds a zero character"
    elif not _is_whole(value):
        problem = "holds half a character (a lone surrogate), as texts do that were cut off"
    if problem:
        msg = f"the field {name!r} {problem}"
        raise UnreadableError(msg)
    return str(value)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
