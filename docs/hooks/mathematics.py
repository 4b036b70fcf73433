"""Conversion of formulas to MathML when the site is built: browsers render it without a script or a network."""

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
BAR = re.compile(r'<mo(?: stretchy="false")?>(&#x0007C;|&#x02016;)</mo>')
"""Delimiters of norms, which would otherwise be spaced like operators."""


def on_page_content(content: str, **_: object) -> str:
    """Convert the formulas of a page to MathML."""
    return FORMULA.sub(_as_mathml, content)


def _as_mathml(found: re.Match[str]) -> str:
    tag, formula = found.groups()
    mathml = convert(html.unescape(formula).strip(), display="block" if tag == "div" else "inline")
    mathml = BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', mathml)
    return f'<div class="formula">{mathml}</div>' if tag == "div" else mathml
