"""Markup: text stays text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semascope.html import element, escaped, joined


class Reader(HTMLParser):
    """Notes what a browser would see."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.attributes = [], "", []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def seen(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


printable = st.text(st.characters(exclude_categories=("Cs", "Cc")))


@given(printable, printable)
def test_text_comes_out_as_it_went_in_and_makes_no_elements(text, value):
    page = seen(element("p", text, element("b", text), title=value))
    assert page.tags == ["p", "b"]
    assert page.text == text + text
    assert page.attributes == [("title", value)]


@pytest.mark.parametrize("name", ["onclick", "onload", "style", "src", "srcdoc", "formaction"])
def test_attributes_that_could_run_or_load_are_refused(name):
    with pytest.raises(ValueError, match="could run or load"):
        element("p", **{name: "x"})


@pytest.mark.parametrize("target", ["javascript:alert(1)", "https://example.org", "data:text/html,x", " #x"])
def test_links_lead_within_the_page_only(target):
    with pytest.raises(ValueError, match="within the page"):
        element("a", href=target)
    assert element("a", "x", href="#x") == '<a href="#x">x</a>'


@pytest.mark.parametrize("tag", ["script", "style"])
def test_scripts_and_styles_are_no_elements_for_text(tag):
    with pytest.raises(ValueError, match="cannot hold text"):
        element(tag, "x")


def test_what_is_joined_is_escaped_unless_it_is_markup():
    assert joined(["<", None, element("b", "&")]) == "&lt;<b>&amp;</b>"
    assert escaped("a\x00b") == "a\N{REPLACEMENT CHARACTER}b"
