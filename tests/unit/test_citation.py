"""Whoever cites the package cites the version there is."""

import re
from pathlib import Path

import semascope

CITATION = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")


def test_the_citation_names_the_version_of_the_package():
    assert re.findall(r"^version: (\S+)$", CITATION, re.MULTILINE) == [semascope.__version__]


def test_the_citation_has_what_its_format_demands():
    members = re.findall(r"^([a-z-]+):", CITATION, re.MULTILINE)
    assert {"cff-version", "message", "title", "authors"} <= {*members}
    assert len({*members}) == len(members)
    assert "\ncff-version: 1.2.0\n" in "\n" + CITATION
