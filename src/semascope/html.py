"""HTML and SVG from plain text: whatever comes from documents, words or labels stays text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

VOID = frozenset({"meta", "input", "br", "hr"})
"""Elements that hold nothing and have no end."""
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Markup(str):
    """Text that is markup already. Only this module makes it, from what it has escaped."""

    __slots__ = ()


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """Make an element. Children that are no markup are escaped, and so are the values of attributes.

    Attributes are written as in ``class_="word"`` and ``stroke_width=2``; those that are None or False are left out. None of
    them can run: handlers of events, styles, and links to anywhere but within the page are refused.

    Examples
    --------
    >>> element("p", "1 < 2 ", element("b", "is true"), class_="small")
    '<p class="small">1 &lt; 2 <b>is true</b></p>'
    """
    if tag in ("script", "style"):
        msg = f"{tag} is no element for text."
        raise ValueError(msg)
    opened = tag + "".join(_attribute(name, value) for name, value in attributes.items() if value not in (None, False))
    if tag in VOID:
        return Markup(f"<{opened}>")
    return Markup(f"<{opened}>{joined(children)}</{tag}>")


def joined(children: Iterable[Any], between: str = "") -> Markup:
    """Put markup and text one after the other, escaping the text; None is left out."""
    return Markup(escaped(between).join(escaped(child) for child in children if child is not None))


def escaped(value: Any) -> Markup:
    """Return markup that shows a value as it is."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(value)), quote=True))


def _attribute(name: str, value: Any) -> str:
    name = name.rstrip("_").replace("_", "-")
    if name.startswith("on") or name in ("style", "src", "srcdoc", "action", "formaction"):
        msg = f"the attribute {name} could run or load something."
        raise ValueError(msg)
    if name == "href" and not str(value).startswith("#"):
        msg = "links lead to places within the page only."
        raise ValueError(msg)
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'
