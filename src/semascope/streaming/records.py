"""Lines of a stream, parsed into labeled documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from semascope.corpus.readers.jsonl import explained, kind_of, record_in

MAX_LINE_LENGTH = 1 << 24
"""Maximum length of a line in bytes; longer lines are bad and never fully in memory."""
KEPT_OF_LONGER = 1000
"""Bytes kept of such a line."""
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """Line without its line break; only the beginning of one that is too long."""

    content: bytes
    too_long: bool = False


class Document(NamedTuple):
    """Document in a line."""

    id: str | None
    text: str
    labels: list[str]


class UnreadableError(ValueError):
    """Line without a valid document; the message has the reason."""


@dataclass(frozen=True)
class StreamFields:
    """Field names of a document in a line.

    text             fields whose values are joined by line breaks; missing ones are skipped
    labels           field of a label or a list of labels; optional
    id               field of the identifier, which is only displayed
    label_separator  separator of several labels in one string
    """

    text: tuple[str, ...] = ("text",)
    labels: str = "labels"
    id: str = "id"
    label_separator: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the journal."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> StreamFields:
        """Create an instance from the values of `to_dict`."""
        return cls(**{**plain, "text": tuple(plain["text"])})

    def document(self, line: Line) -> Document | None:
        """Return the document in a line; None if the line is blank.

        Raises
        ------
        UnreadableError
            If the line has no valid document.
        """
        if line.too_long:
            msg = f"longer than {MAX_LINE_LENGTH >> 20} MB; only its beginning is kept"
            raise UnreadableError(msg)
        content = without_bom(line.content)
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
        present = [name for name in self.text if name in record]
        if not present:
            msg = f"no field {' or '.join(map(repr, self.text))}"
            raise UnreadableError(msg)
        return "\n".join(_string(name, record[name]) for name in present)

    def _labels(self, record: dict[str, Any]) -> list[str]:
        """Return the distinct labels. Empty strings and null are skipped."""
        value = record.get(self.labels)
        values = value if isinstance(value, list) else [value]
        labels = [_string(self.labels, label) for label in values if label is not None]
        if self.label_separator is not None:
            labels = [part.strip() for label in labels for part in label.split(self.label_separator)]
        return list(dict.fromkeys(label for label in labels if label))


def without_bom(content: bytes) -> bytes:
    """Return a line without a byte order mark, with which some programs begin files."""
    return content.removeprefix(_BOM)


def _string(name: str, value: Any) -> str:
    problem = None
    if not isinstance(value, str):
        problem = f"must be a string, but was {kind_of(value)}"
    elif "\0" in value:
        problem = "holds a zero character"
    elif not _is_encodable(value):
        problem = "holds half a character (a lone surrogate), as truncated texts do"
    if problem:
        msg = f"the field {name!r} {problem}"
        raise UnreadableError(msg)
    return str(value)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
