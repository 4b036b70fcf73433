"""Safe HTML and SVG: everything from documents, words and labels is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

VOID = frozenset({"meta", "input", "br", "hr"})
"""Elements without content and end tag."""
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Markup(str):
    """Escaped markup, created only by this module."""

    __slots__ = ()


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """Build an element. Children that are not markup are escaped, as are attribute values.

    Attributes are written as in ``class_="word"`` and ``stroke_width=2``; None and False are omitted. Attributes that could
    run or load something are rejected: event handlers, styles, and links that leave the page.

    Examples
    --------
    >>> element("p", "1 < 2 ", element("b", "is true"), class_="small")
    '<p class="small">1 &lt; 2 <b>is true</b></p>'
    """
    if tag in ("script", "style"):
        msg = f"{tag} elements cannot hold text."
        raise ValueError(msg)
    start_tag = tag + "".join(_attribute(name, value) for name, value in attributes.items() if value not in (None, False))
    if tag in VOID:
        return Markup(f"<{start_tag}>")
    return Markup(f"<{start_tag}>{joined(children)}</{tag}>")


def joined(children: Iterable[Any], between: str = "") -> Markup:
    """Join markup and text, escaping the text and skipping None."""
    return Markup(escaped(between).join(escaped(child) for child in children if child is not None))


def escaped(value: Any) -> Markup:
    """Return a value as escaped markup."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_CONTROL_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", str(value)), quote=True))


def _attribute(name: str, value: Any) -> str:
    name = name.rstrip("_").replace("_", "-")
    if name.startswith("on") or name in ("style", "src", "srcdoc", "action", "formaction"):
        msg = f"the attribute {name} could run or load something."
        raise ValueError(msg)
    if name == "href" and not str(value).startswith("#"):
        msg = "links must stay within the page."
        raise ValueError(msg)
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'
