"""What a terminal may be given: no character that is a command to it, and nothing that is endless."""

from __future__ import annotations

import re

MAX_NAME_LENGTH = 240
"""Characters of a name: three lines of a common terminal."""
MAX_LINE_LENGTH = 1000
"""Characters of a sentence that quotes names, or of a passage."""
ELLIPSIS, MISSING = "…", "\N{REPLACEMENT CHARACTER}"

_HALVES = "\ud800-\udfff"
HALVES = re.compile(f"[{_HALVES}]")
"""Halves of characters, which bytes that are not UTF-8 become in arguments and file names."""
FORBIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb{_HALVES}]")
"""Controls, among them those that begin escape sequences; ends of lines; what turns the direction of writing for all that
follows; signs of annotations. Joiners and marks that scripts and emoji need are not among them."""


def sanitize(text: str, limit: int | None = None) -> str:
    r"""Replace what a terminal would take for a command, each character by one, and cut what is too long.

    Parameters
    ----------
    text : str
        Anything.
    limit : int, optional
        The most characters to keep, the ellipsis in the middle among them: the end of a sentence often says what to do.

    Examples
    --------
    >>> harmless("a\x1b[2Jb\nc \u0928\u092e\u0938\u094d\u0924\u0947")
    'a�[2Jb c नमस्ते'
    >>> harmless("abcdefgh", 5)
    'ab…gh'
    """
    if limit is not None and len(text) > limit:
        head, tail = limit // 2, (limit - 1) // 2
        text = text[:head] + ELLIPSIS + text[len(text) - tail :]
    return FORBIDDEN.sub(lambda found: " " if found[0].isspace() else MISSING, text)


def is_sanitized(text: str) -> bool:
    """Return whether a text can be printed as it is."""
    return len(text) <= MAX_LINE_LENGTH and FORBIDDEN.search(text) is None


def readable(text: str) -> str:
    """Replace halves of characters, which are no text to a model. All else stays: this is read, not printed."""
    return HALVES.sub(MISSING, text)
