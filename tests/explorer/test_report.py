"""The report: one file that shows a model anywhere, and runs nothing but its own script."""

import re

import polars as pl
import pytest
from typer.testing import CliRunner

from browsing import needs_chromium
from semascope import LDA, LSA, Analyzer, Corpus, LabeledLDA, OnlineLabeledLDA, load
from semascope.cli.main import app
from semascope.errors import InputError
from semascope.explorer.report.page import render_report, write_report

HOSTILE = '"\'><script>window.ran=1</script><img/src=x/onerror="window.ran=1"></title></style><svg/onload="window.ran=1">'


def documents(n=24):
    texts = ["cats purr and dogs bark while cats sleep", "banks lend money and stocks rise when banks trade"]
    return pl.DataFrame(
        {
            "id": [f"{HOSTILE} {i}" for i in range(n)],
            "text": [f"{texts[i % 2]} {HOSTILE}" for i in range(n)],
            "labels": [[HOSTILE, "pets"] if i % 2 else [f"money {HOSTILE}"] for i in range(n)],
            "title": [f"{HOSTILE} title {i}" for i in range(n)],
            "date": [f"{1987 + i % 6}-01-10" for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus full of markup, and two models of it."""
    folder = tmp_path_factory.mktemp("report")
    analyzer = Analyzer(token_pattern=r"\S+", lowercase=False)
    corpus = Corpus.build(documents(), analyzer, path=folder / "corpus")
    LDA(3, random_state=0).fit(corpus).rename_topics({0: HOSTILE}).save(folder / "lda")
    LabeledLDA(max_iter=20, random_state=0).fit(corpus).save(folder / "labeled")
    return folder


@pytest.fixture(scope="module", params=["lda", "labeled"])
def page(request, folder):
    out = folder / f"{request.param}.html"
    write_report(folder / request.param, out, title=HOSTILE)
    return out


def opened(browser, path, **options):
    """Open a file without a network; gives the page, and what it asked for and said."""
    page = browser.new_context(offline=True, **options).new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(path.as_uri())
    return page, asked, said


# --- safe ------------------------------------------------------------------------------------------------------------------


@needs_chromium
def test_nothing_is_loaded_and_no_text_runs(browser, page):
    shown, asked, said = opened(browser, page)
    shown.get_by_role("button", name="Open all").click()
    shown.wait_for_timeout(100)
    assert shown.evaluate("window.ran") is None
    assert asked == [page.as_uri()]
    assert said == []
    assert HOSTILE in shown.inner_text("h1")
    assert shown.title() == HOSTILE
    assert shown.locator("script").count() == 1
    assert shown.locator("img").count() == 0


def test_scripts_and_styles_are_allowed_by_their_hashes_only(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.read_text()).group(1)
    assert "default-src &#x27;none&#x27;" in policy
    assert policy.count("sha256-") == 2
    assert "unsafe" not in policy


@needs_chromium
def test_a_script_that_slipped_in_would_not_run(browser, page, tmp_path):
    changed = tmp_path / "changed.html"
    slipped = '<script>window.ran=1</script><b onclick="window.ran=1" id="slipped">x</b></body>'
    changed.write_text(page.read_text().replace("</body>", slipped))
    shown, _, said = opened(browser, changed)
    shown.click("#slipped")
    assert shown.evaluate("window.ran") is None
    assert any("Content Security Policy" in message for message in said)


# --- of use ----------------------------------------------------------------------------------------------------------------


@needs_chromium
def test_the_filter_leaves_topics_with_all_words(browser, folder, page):
    shown, _, _ = opened(browser, page)
    n = shown.locator(".topic").count()
    shown.keyboard.press("/")
    shown.keyboard.type("banks MONEY")
    left = shown.locator(".topic:visible")
    assert 0 < left.count() <= n
    assert all(
        "banks" in text and "money" in text for text in left.evaluate_all("all => all.map(e => e.textContent.toLowerCase())")
    )
    shown.fill("input", "nowhere-to-be-found")
    assert left.count() == 0
    assert shown.inner_text("output") == f"0 of {n}"


@needs_chromium
def test_a_circle_on_the_map_leads_to_its_topic(browser, page):
    shown, _, _ = opened(browser, page)
    link = shown.locator(".map a").first
    target = link.get_attribute("href")
    assert shown.evaluate("id => document.querySelector(id).open", target) is False
    link.focus()
    shown.keyboard.press("Enter")
    shown.wait_for_function("id => document.querySelector(id).open", arg=target)


@needs_chromium
def test_it_fits_a_phone(browser, page):
    shown, _, _ = opened(browser, page, viewport={"width": 360, "height": 740})
    shown.get_by_role("button", name="Open all").click()
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_in_light_and_dark(browser, page, scheme):
    shown, _, _ = opened(browser, page, color_scheme=scheme)
    script = (
        "['color', 'backgroundColor'].map(name => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3).map(Number))"
    )
    letters, paper = shown.evaluate(script)
    assert (sum(letters) < sum(paper)) == (scheme == "light")
    assert abs(sum(letters) - sum(paper)) > 500


@needs_chromium
def test_printing_shows_what_is_inside_all_topics(browser, page):
    shown, _, _ = opened(browser, page)
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.evaluate("[...document.querySelectorAll('.topic')].every(topic => topic.open)")
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not shown.evaluate("[...document.querySelectorAll('.topic')].some(topic => topic.open)")


def test_it_tells_of_topics_documents_time_relations_and_quality(folder):
    text = render_report(load(folder / "lda"), Corpus.open(folder / "corpus"), "three topics")
    assert text.count('class="topic"') == 3
    for part in (
        "most frequent",
        "most distinctive",
        "typical documents",
        "share over time",
        "related topics",
        "coherence",
        "perplexity, not held-out, own prior",
    ):
        assert part in text
    assert "<mark>" in text


def test_the_same_model_has_the_same_report(folder):
    model, corpus = load(folder / "labeled"), Corpus.open(folder / "corpus")
    assert render_report(model, corpus, "x") == render_report(load(folder / "labeled"), corpus, "x")


def test_a_hundred_topics_weigh_less_than_five_megabytes(tmp_path):
    words = [f"a-rather-long-word-{i}" for i in range(400)]
    texts = [" ".join(words[(7 * i + j * j) % 400] for j in range(120)) for i in range(300)]
    frame = pl.DataFrame(
        {"text": texts, "title": ["a title of some length " * 8] * 300, "year": [str(1900 + i % 100) for i in range(300)]}
    )
    corpus = Corpus.build(frame, path=tmp_path / "corpus")
    LDA(100, max_iter=5, random_state=0).fit(corpus).save(tmp_path / "model")
    assert write_report(tmp_path / "model", tmp_path / "out.html").size < 5e6
    assert (tmp_path / "out.html").read_text().count('class="topic"') == 100


# --- what is not there -----------------------------------------------------------------------------------------------------


def test_without_its_corpus_a_model_is_shown_without_documents(folder, tmp_path):
    LDA(2, random_state=0).fit(["cats purr", "dogs bark", "cats sleep"]).save(tmp_path / "model")
    written = write_report(tmp_path / "model", tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text()
    assert "name a corpus with --corpus" in written.problem
    assert "Documents are not available" in text
    assert "typical documents" not in text
    assert text.count('class="topic"') == 2


def test_a_model_that_has_learned_nothing_yet_says_so(tmp_path):
    OnlineLabeledLDA(random_state=0).save(tmp_path / "model")
    write_report(tmp_path / "model", tmp_path / "out.html")
    assert "The model has no labels yet." in (tmp_path / "out.html").read_text()


def test_a_file_that_is_there_is_replaced_only_when_asked(folder, tmp_path):
    out = tmp_path / "out.html"
    out.write_text("mine")
    with pytest.raises(InputError, match="--overwrite"):
        write_report(folder / "lda", out)
    assert out.read_text() == "mine"
    write_report(folder / "lda", out, overwrite=True)
    assert out.read_text().startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


@pytest.mark.parametrize(("out", "said"), [("", "is a directory"), ("nowhere/out.html", "parent directory does not exist")])
def test_a_place_that_cannot_hold_a_file_is_refused(folder, tmp_path, out, said):
    with pytest.raises(InputError, match=said):
        write_report(folder / "lda", tmp_path / out)


def test_lsa_has_no_topics_to_render_report(tmp_path):
    LSA(2, random_state=0).fit(["cats purr", "dogs bark", "cats sleep"]).save(tmp_path / "model")
    with pytest.raises(InputError, match="has no topics"):
        write_report(tmp_path / "model", tmp_path / "out.html")


def test_the_command_writes_the_file_and_says_so(folder, tmp_path):
    out = tmp_path / "out.html"
    result = CliRunner().invoke(app, ["report", str(folder / "lda"), str(out), "--corpus", str(folder / "corpus")])
    assert result.exit_code == 0, result.output
    assert "3 topics" in result.output
    assert out.stat().st_size > 10_000
