"""A real browser for tests of pages."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

PATIENCE = 120_000
"""Milliseconds to wait for what may have to be compiled first, on a busy machine."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (Debian: apt-get install chromium)")


expect.set_options(timeout=PATIENCE)


@contextmanager
def a_browser():
    """Chromium, without a window."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser, client, *, width=1280, scheme="light", wrong=()):
    """A page on a server. Nothing may go wrong in it but what `wrong` says, and nothing may be asked of other servers."""
    origin = str(client.base_url)
    screen = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme, "reduced_motion": "reduce"}
    context = browser.new_context(base_url=origin, **screen)
    context.set_default_timeout(PATIENCE)
    problems = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda asked: None if asked.url.startswith((origin, "blob:", "data:")) else problems.append(asked.url))
    try:
        yield page
    finally:
        context.close()
    assert [problem for problem in problems if not any(part in problem for part in wrong)] == []


def visit(page, view):
    """Open a view from nothing and wait until it is there."""
    page.goto("about:blank")
    page.goto(f"/{view}")
    expect(page.locator("main h1")).to_be_attached()
    page.wait_for_load_state("networkidle")
    expect(page.locator("main .failure")).to_have_count(0)


def saved(page, menu, kind):
    """What a menu saves."""
    menu.locator("summary").click()
    with page.expect_download() as download:
        menu.get_by_role("button", name=kind, exact=True).click()
    return Path(download.value.path()).read_bytes()
