"""Every view of the explorer opens in a real browser, fits, can be read, and runs nothing that a document says."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from browsing import needs_chromium, opened, visit
from helpers import collection_path
from semascope import LDA, Analyzer, Corpus, LabeledLDA, PolylingualLDA, read

pytestmark = needs_chromium

TOPIC_VIEWS = ["#/topics", "#/topics/0", "#/documents", "#/documents?topic=1", "#/search?q={word}", "#/try"]
LABEL_VIEWS = ["#/labels", "#/labels/0", "#/documents", "#/documents?topic=0", "#/search?q={word}", "#/try"]


def walk(browser, client, views, word):
    """Open every view, wide and narrow, in light and in dark, and a document from a list."""
    for width, scheme in [(1280, "light"), (360, "dark")]:
        with opened(browser, client, width=width, scheme=scheme) as page:
            for view in views:
                visit(page, view.format(word=word))
                assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{view} is wider than {width} pixels"
            visit(page, "#/documents")
            page.locator("table .name").first.click()
            expect(page.locator(".due").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width


# --- every view ----------------------------------------------------------------------------------------------------------


def test_every_view_of_topics_and_of_labels_opens_on_a_laptop_and_on_a_phone(browser, lda, labeled):
    walk(browser, lda, TOPIC_VIEWS, "bank")
    walk(browser, labeled, LABEL_VIEWS, "bank")


def test_every_view_opens_for_the_docstrings_of_python(browser, serving, tmp_path):
    corpus = Corpus.build(read("stdlib:"), Analyzer(stop_words="english", min_df=5, max_df=0.1), path=tmp_path / "corpus")
    LDA(12, max_iter=10, random_state=0).fit(corpus).save(tmp_path / "lda")
    with serving(tmp_path / "lda") as client:
        walk(browser, client, TOPIC_VIEWS, "socket")


def test_every_view_opens_for_reuters_with_time_and_labels(browser, serving, tmp_path):
    documents = read(collection_path("labelled/reuters21578"))
    corpus = Corpus.build(documents, Analyzer(stop_words="english", min_df=5, max_df=0.2), path=tmp_path / "corpus")
    LDA(20, max_iter=8, random_state=0).fit(corpus).save(tmp_path / "lda")
    LabeledLDA(background=1, max_iter=5, random_state=0).fit(corpus).save(tmp_path / "labeled")
    with serving(tmp_path / "lda") as client:
        walk(browser, client, TOPIC_VIEWS, "oil")
        with opened(browser, client) as page:
            visit(page, "#/topics/0")
            expect(page.get_by_role("img", name="Share from Feb 1987")).to_be_visible()
    with serving(tmp_path / "labeled") as client:
        walk(browser, client, LABEL_VIEWS, "oil")


def test_every_view_opens_for_the_bible_with_languages_side_by_side(browser, serving, tmp_path):
    documents = read(collection_path("poly/bible_chapters"), texts="texts", languages=["en", "de", "fr", "es"])
    corpus = Corpus.build(documents, Analyzer(min_df=5), path=tmp_path / "corpus")
    PolylingualLDA(8, max_iter=8, random_state=0).fit(corpus).save(tmp_path / "bible")
    with serving(tmp_path / "bible") as client:
        walk(browser, client, TOPIC_VIEWS, "king")
        with opened(browser, client) as page:
            visit(page, "#/topics/0")
            expect(page.locator(".side-by-side th")).to_have_text(["English", "German", "French", "Spanish"])
            visit(page, "#/search?q=König&language=de")
            expect(page.locator(".results mark").first).to_have_text(re.compile("König"))


def test_what_hostile_documents_say_is_shown_as_text_and_never_runs(browser, lda, labeled):
    for client, views in [
        (lda, ["#/documents/doc4", "#/documents", "#/search?q=cat"]),
        (labeled, ["#/labels", "#/documents/doc5", "#/live"]),
    ]:
        with opened(browser, client) as page:
            for view in views:
                page.goto(f"/{view}")
                page.wait_for_load_state("networkidle")
                assert page.locator("main script, main img").count() == 0
    with opened(browser, lda) as page:
        visit(page, "#/documents/doc4")
        expect(page.locator("h1")).to_have_text('<script>alert(1)</script><img src=x onerror="alert(2)">')


def test_a_document_whose_id_holds_a_slash_can_be_opened(page):
    visit(page, "#/documents/doc%2F3")
    expect(page.locator(".fields dd").first).to_have_text("doc/3")


# --- how it looks, and what it says --------------------------------------------------------------------------------------


def test_the_colors_that_people_choose_are_kept(page):
    visit(page, "#/topics")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    page.locator("#theme").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


CONTRAST = """() => {
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const light = (name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.setProperty("color", `var(--${name})`);
    pen.fillStyle = getComputedStyle(probe).color;
    probe.remove();
    pen.fillRect(0, 0, 1, 1);
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const pairs = [];
  for (const ink of ["ink", "faint", "accent", "alarm"]) for (const ground of ["paper", "card"]) pairs.push([ink, ground]);
  pairs.push(["ink", "mark"], ["ink", "mark-related"], ["on-accent", "accent"], ["accent", "accent-soft"], ["faint", "ground"]);
  return pairs.map(([a, b]) => [`${a} on ${b}`, ratio(a, b)]);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_stand_out_from_what_they_stand_on(browser, lda, scheme):
    with opened(browser, lda, scheme=scheme) as page:
        visit(page, "#/topics")
        weak = {pair: round(ratio, 2) for pair, ratio in page.evaluate(CONTRAST) if ratio < 4.5}
    assert weak == {}, "WCAG 2.2 AA asks for 4.5"


def test_what_is_not_there_is_said_with_a_way_back(browser, lda):
    with opened(browser, lda, wrong=["404", "422"]) as page:
        for view, says in [
            ("#/topics/99", "topic 99"),
            ("#/documents/nobody", "nobody"),
            ("#/parrots", "Page not found"),
            ("#/live", "does not learn from a stream"),
        ]:
            page.goto("about:blank")
            page.goto(f"/{view}")
            expect(page.locator("main")).to_contain_text(says)
        page.goto("/#/parrots")
        page.get_by_role("link", name="Back to the start").click()
        expect(page.locator(".map")).to_be_visible()


def test_a_model_without_documents_says_how_to_show_them(browser, serving, fitted, tmp_path):
    shutil.copytree(fitted / "live", tmp_path / "live")
    with serving(tmp_path / "live") as client, opened(browser, client) as page:
        visit(page, "#/labels")
        expect(page.locator("#notice")).to_contain_text("--corpus")
        page.goto("/#/documents")
        expect(page.locator("main")).to_contain_text("not available")
        page.goto("/#/search")
        expect(page.locator("main")).to_contain_text("No documents to search")


def test_the_live_view_follows_what_is_learned(browser, serving, fitted, tmp_path):
    shutil.copytree(fitted / "live", tmp_path / "live")
    with serving(tmp_path / "live", learn=True) as client, opened(browser, client) as page:
        visit(page, "#/live")
        expect(page.locator(".figures dd").first).to_have_text("20")
        answer = client.post("/api/stream", json={"documents": [{"text": "the opera sings", "labels": ["<b>opera</b>"]}] * 3})
        assert answer.json() == {"learned": 3}
        expect(page.locator(".figures dd").first).to_have_text("23")
        expect(page.get_by_role("link", name="<b>opera</b>").first).to_be_visible()


def test_a_server_that_is_gone_is_said_and_can_be_tried_again(browser, serving, fitted):
    with serving(fitted / "lda") as client, opened(browser, client, wrong=["ERR_CONNECTION_REFUSED", "ERR_FAILED"]) as page:
        visit(page, "#/topics")
        page.route("**/api/**", lambda route: route.abort())
        page.goto("/#/documents")
        expect(page.get_by_role("alert")).to_contain_text("does not respond")
        page.unroute("**/api/**")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("table.list")).to_be_visible()
