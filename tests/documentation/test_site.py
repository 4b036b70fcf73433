"""The site is built without a complaint, leaves nothing out, and asks nothing of the network."""

import logging
import re

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

import semascope
from browsing import a_browser, needs_chromium
from documentation.blocks import ROOT
from semascope.cli.main import COMMANDS

ELSEWHERE = re.compile(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["']?(?:https?:)?//[^>]*>""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it. Links that lead nowhere are warnings, and none may be there."""
    folder = tmp_path_factory.mktemp("site")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=False)
    problems = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: problems.append(record.getMessage())
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        build(config)
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    assert not problems
    return folder


def test_the_site_is_built_without_a_warning(site):
    assert (site / "index.html").is_file()


def test_every_public_name_is_in_the_reference(site):
    shown = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    missing = [name for name in semascope.__all__ if name != "__version__" and f'id="semascope.{name}"' not in shown]
    assert not missing


def test_every_command_is_in_the_reference(site):
    shown = (site / "reference/commands.html").read_text(encoding="utf-8")
    assert not [name for name in COMMANDS if f'id="semascope-{name}"' not in shown]


def test_formulas_are_mathml(site):
    shown = (site / "explanation/lda.html").read_text(encoding="utf-8")
    assert "<math" in shown
    assert "arithmatex" not in shown


def test_pages_name_nothing_that_would_be_fetched_from_elsewhere(site):
    found = {tag for page in site.rglob("*.html") for tag in ELSEWHERE.findall(page.read_text(encoding="utf-8"))}
    assert not found


@needs_chromium
def test_pages_can_be_read_and_searched_from_a_folder_without_a_network(site):
    asked, problems = [], []
    with a_browser() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((site / "explanation/lda.html").as_uri())
        page.locator("input[name=query]").click()
        page.keyboard.type("perplexity")
        page.locator(".md-search-result__link").first.wait_for()
    assert not problems
    assert not [address for address in asked if not address.startswith(("file:", "data:", "blob:", "about:"))]
