"""Sanitized terminal text: no control characters and a bounded length."""

from __future__ import annotations

import re

MAX_NAME_LENGTH = 240
"""Maximum number of characters of a name: three lines of a common terminal."""
MAX_LINE_LENGTH = 1000
"""Maximum number of characters of a sentence that quotes names, or of a passage."""
ELLIPSIS, MISSING = "…", "\N{REPLACEMENT CHARACTER}"

_SURROGATES = "\ud800-\udfff"
SURROGATES = re.compile(f"[{_SURROGATES}]")
"""Surrogates, which invalid UTF-8 bytes become in arguments and file names."""
FORBIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb{_SURROGATES}]")
"""Control characters, line separators, bidirectional overrides, interlinear annotations and surrogates. Joiners and marks
that scripts and emoji need are allowed."""


def sanitize(text: str, limit: int | None = None) -> str:
    r"""Replace control characters one by one, and truncate long text.

    Parameters
    ----------
    text : str
        Any text.
    limit : int, optional
        Maximum number of characters, including the ellipsis. The middle is cut: the end of an error often names the remedy.

    Examples
    --------
    >>> sanitize("a\x1b[2Jb\nc \u0928\u092e\u0938\u094d\u0924\u0947")
    'a�[2Jb c नमस्ते'
    >>> sanitize("abcdefgh", 5)
    'ab…gh'
    """
    if limit is not None and len(text) > limit:
        head, tail = limit // 2, (limit - 1) // 2
        text = text[:head] + ELLIPSIS + text[len(text) - tail :]
    return FORBIDDEN.sub(lambda match: " " if match[0].isspace() else MISSING, text)


def is_sanitized(text: str) -> bool:
    """Return whether a text can be printed as it is."""
    return len(text) <= MAX_LINE_LENGTH and FORBIDDEN.search(text) is None


def readable(text: str) -> str:
    """Replace surrogates, which models cannot read; all other characters stay, as the text is not printed."""
    return SURROGATES.sub(MISSING, text)
