"""The pages of the explorer in use: maps, lists, sliders, names, colors, searches, and files to keep."""

import csv
import io
import json
import re
import shutil
from xml.etree import ElementTree

from playwright.sync_api import expect

from browsing import needs_chromium, opened, saved, visit
from semascope import load

pytestmark = needs_chromium


# --- topics --------------------------------------------------------------------------------------------------------------


def test_the_map_is_walked_with_arrow_keys_and_opened_with_enter(page):
    visit(page, "#/topics")
    circles = page.locator(".map a")
    expect(circles).to_have_count(3)
    circles.first.focus()
    seen = {page.evaluate("document.activeElement.dataset.topic")}
    for key in ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] * 2:
        page.keyboard.press(key)
        seen.add(page.evaluate("document.activeElement.dataset.topic"))
    assert len(seen) > 1
    expect(page.locator(".tip")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"#/topics/\d$"))


def test_the_list_is_sorted_and_filtered_and_the_link_remembers_it(page, lda):
    lists = [topic["words"] for topic in lda.get("/api/topics").json()["topics"]]
    word = next(word for word in {word for words in lists for word in words} if not all(word in words for words in lists))
    few = sum(word in words for words in lists)
    visit(page, "#/topics")
    page.get_by_role("button", name="Topic", exact=True).click()
    names = page.locator("table.list .name").all_text_contents()
    assert names == sorted(names)
    page.get_by_label("Find a topic").fill(word)
    for _ in range(2):
        expect(page.locator("table.list .name")).to_have_count(few)
        expect(page.locator(".map a.faded")).to_have_count(len(lists) - few)
        page.reload()
    page.get_by_label("Find a topic").fill("parrots")
    expect(page.get_by_text("No topic has “parrots”")).to_be_visible()


def test_the_slider_changes_the_words_and_the_link_remembers_it(page, lda):
    visit(page, "#/topics/0")
    page.locator("#relevance").focus()
    page.keyboard.press("Home")
    expect(page).to_have_url(re.compile(r"relevance=0$"))
    wanted = [word["word"] for word in lda.get("/api/topics/0", params={"relevance": 0, "n": 20}).json()["words"]]
    expect(page.locator(".bar-label")).to_have_text(wanted)
    page.reload()
    expect(page.locator(".bar-label")).to_have_text(wanted)


def test_enter_keeps_a_new_name_and_escape_leaves_the_old_one(browser, serving, fitted, tmp_path):
    shutil.copytree(fitted / "lda", tmp_path / "lda")
    hostile = "<img src=x onerror=alert(1)> $&"
    with serving(tmp_path / "lda", corpus=fitted / "corpus") as client, opened(browser, client) as page:
        visit(page, "#/topics/1")
        before = page.locator("h1").inner_text()
        page.get_by_role("button", name="Rename").click()
        page.keyboard.type("never")
        page.keyboard.press("Escape")
        expect(page.locator("h1")).to_have_text(before)
        page.get_by_role("button", name="Rename").click()
        page.keyboard.type(hostile)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text(hostile)
        expect(page).to_have_title(f"{hostile} · lda · semascope")
        visit(page, "#/topics")
        expect(page.get_by_role("link", name=hostile, exact=True)).to_be_visible()
    assert load(tmp_path / "lda").topic_names_[1] == hostile


# --- documents, search, texts --------------------------------------------------------------------------------------------


def test_a_legend_turns_the_colors_of_topics_off_and_on(page):
    visit(page, "#/documents/doc1")
    word = page.locator('.due[data-place="0"]').first
    toggle = page.locator(".toggle").first
    colored = word.evaluate("element => getComputedStyle(element).backgroundColor")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "false")
    assert word.evaluate("element => getComputedStyle(element).backgroundColor") != colored
    toggle.click()
    assert word.evaluate("element => getComputedStyle(element).backgroundColor") == colored


def test_a_slash_leads_to_the_box_and_results_show_what_they_have_in_common(page):
    visit(page, "#/topics")
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("bank loan")
    page.keyboard.press("Enter")
    expect(page.locator(".results .passage mark").first).to_have_text(re.compile("bank|loan"))
    expect(page.locator(".why").first).to_contain_text("In common")
    page.get_by_text("Words", exact=True).click()
    expect(page).to_have_url(re.compile("by=bm25"))
    page.get_by_role("link", name="Similar documents").first.click()
    expect(page.get_by_role("heading", name=re.compile("^Similar to "))).to_be_visible()


def test_a_text_is_colored_by_its_topics_or_its_labels(browser, lda, labeled):
    for client in (lda, labeled):
        with opened(browser, client) as page:
            visit(page, "#/try")
            page.locator("#given").fill("𝒜 dog 🐕 at the bank")  # two characters that JavaScript counts twice
            page.keyboard.press("Control+Enter")
            expect(page.locator(".due")).to_have_text(["dog", "the", "bank"])
            page.locator("#given").fill("qwertz")
            page.keyboard.press("Control+Enter")
            expect(page.get_by_text("No word of the text")).to_be_visible()
    with opened(browser, labeled) as page:
        visit(page, "#/try")
        page.locator("#given").fill("bank loan tax coin stock")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("img", name="Probabilities of labels")).to_contain_text("money")


def test_a_text_and_words_are_of_the_language_that_is_shown(browser, serving, fitted):
    with serving(fitted / "polylingual") as client, opened(browser, client) as page:
        visit(page, "#/try")
        page.locator("#given").fill("dogs, cats")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".due")).to_have_text(["dogs", "cats"])
        visit(page, "#/topics/0")
        choice = page.get_by_label("Language of the words")
        expect(choice).to_have_value("en")
        choice.select_option("de")
        expect(page.locator(".bar-label").first).to_have_text(re.compile("^(katzen|und|hunde|aktien|anleihen)$"))


# --- figures and tables as files -----------------------------------------------------------------------------------------


def test_figures_are_saved_as_drawings_that_stand_alone_and_tables_as_numbers(page, lda):
    visit(page, "#/topics")
    menu = page.locator(".map-figure .export")
    drawing = ElementTree.fromstring(saved(page, menu, "SVG"))
    styled = [element for element in drawing.iter() if element.tag.endswith("circle")]
    assert len(styled) == 3
    assert all(element.get("fill").startswith(("rgb", "color")) and not element.get("class") for element in styled)
    assert saved(page, menu, "PNG").startswith(b"\x89PNG")
    topics = lda.get("/api/topics").json()["topics"]
    assert [row["topic"] for row in json.loads(saved(page, menu, "JSON"))] == [topic["topic"] for topic in topics]
    table = page.locator("section .export")
    rows = list(csv.DictReader(io.StringIO(saved(page, table, "CSV").decode())))
    assert [row["words"].split() for row in rows] == [topic["words"] for topic in topics]


def test_cells_that_a_spreadsheet_would_run_are_made_text(page):
    visit(page, "#/topics")
    foreign = ["=1+1", "+1", "-1", "@sum", " =1", "\t=1", "\tx", "\r=1", "\n=1", "\u00a0-1", "＝1", ["=1", "b"]]
    plain = ["word", "a=b", "a - b", "", 'say "x", y', "", "'=1"]
    rows = [{"=name": value, "number": -2} for value in [*foreign, *plain]]
    made = page.evaluate("""async (rows) => (await import("/static/export.js")).csv(rows)""", rows)
    header, *cells = csv.reader(io.StringIO(made, newline=""))
    assert header == ["'=name", "number"]
    expected = [" ".join(value) if isinstance(value, list) else value for value in foreign]
    assert [cell for cell, _ in cells] == [*(f"'{value}" for value in expected), *plain]
    assert {number for _, number in cells} == {"-2"}, "numbers stay numbers"
