"""semascope info: facts and pictures."""

import io
import sys

import numpy as np
import pytest

from semascope import Corpus
from semascope.cli.render.charts import Bar, Curve, bars

DATED = [
    {"text": "the cat and the dog are in the house", "labels": ["a"], "date": "1999-01-01"},
    {"text": "the tax and the loan are in the bank", "labels": ["b"], "date": "2001-05-05"},
    {"text": "", "date": "2001"},
]


@pytest.fixture
def shown(run, monkeypatch, tmp_path):
    """Save a corpus and give what info prints of it, at a width."""

    def show(corpus, width=80):
        corpus.save(tmp_path / "shown")
        monkeypatch.setenv("COLUMNS", str(width))
        ran = run("info", tmp_path / "shown")
        assert ran.code == 0, ran.err
        assert ran.next_commands
        return ran.out

    return show


def lines_with(text, *parts):
    return [line for line in text.splitlines() if all(part in line for part in parts)]


def test_info_shows_lengths_words_labels_languages_and_years(run, as_lines, tmp_path, monkeypatch):
    (tmp_path / "dated.jsonl").write_text(as_lines(*DATED))
    run("build", tmp_path / "dated.jsonl", tmp_path / "corpus", "--min-length", 3)
    monkeypatch.setenv("COLUMNS", "60")
    out = run("info", tmp_path / "corpus").out
    assert "3 documents, 9 words, 16 tokens" in out
    assert "density 44%, 1 shard, 1 empty document" in out
    assert "min_length=3" in out
    assert "median 8" in out
    assert "longest 8" in out
    assert lines_with(out, "the █", " 6")
    assert "occurring once: 6 words (67%)" in out
    assert lines_with(out, "a █", " 1")
    assert "1 document without" in out
    assert lines_with(out, "english █", "66.7%")
    assert lines_with(out, "2000", " 0")
    assert lines_with(out, "2001 █", " 2")


def test_info_tells_programs_what_it_shows_people(run, as_lines, tmp_path):
    (tmp_path / "dated.jsonl").write_text(as_lines(*DATED))
    run("build", tmp_path / "dated.jsonl", tmp_path / "corpus")
    (facts,) = run("info", tmp_path / "corpus", "--json").json
    assert facts["most_frequent_words"][0] == ["the", 6.0, 2]
    assert facts["years"] == {"1999": 1, "2000": 0, "2001": 2}
    assert facts["languages"]["english"] == pytest.approx(2 / 3)
    assert facts["top_labels"] == [["a", 1], ["b", 1]]
    assert facts["path"] == str(tmp_path / "corpus")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_pictures_keep_to_the_width_of_the_terminal(shown, width):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{w}" for w in rng.zipf(1.5, size=n) if w < 10**6) for n in rng.integers(5, 200, 50)]
    labels = [f"a label that is rather long, number {n % 15}" for n in range(50)]
    out = shown(Corpus.from_texts(texts, labels=labels), width)
    pictures = out[out.index("Documents by length") : out.index("Next:")]
    assert max(map(len, pictures.splitlines())) <= max(width, 36)
    assert "5 more" in out


@pytest.mark.parametrize(
    "corpus",
    [
        Corpus.from_texts(["word"]),
        Corpus.from_texts(["some words", "", ""]),
        Corpus.from_matrix([[0.25, 0.5], [0, 0]]),
        Corpus.from_matrix(np.zeros((3, 2))),
        Corpus.from_texts(["x\u202ey 日本語のとても長い文章 " + "w" * 300], labels=["[bold]\x1b[31mred\n日本語" * 5]),
    ],
    ids=["one word", "empty documents", "fractions", "zeros", "strange letters"],
)
def test_odd_corpora_are_shown(shown, corpus):
    out = shown(corpus)
    assert "\x1b" not in out, "no colors where there is no terminal"
    assert ("Languages" in out) == (corpus.texts is not None)
    assert ("Labels" in out) == (corpus.labels.list.len().sum() > 0)


def test_a_terminal_that_is_not_utf_8_gets_ascii(run, corpus, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "80")
    assert run("info", corpus).code == 0
    out = stream.buffer.getvalue().decode("ascii")
    assert "###" in out
    assert "Documents by length" in out


def test_info_shows_the_largest_topics_of_a_model(run, model):
    assert lines_with(run("info", model).out, "topic 1 █", "%")


def render(renderable, width=10, **settings):
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, **settings)
    console.print(renderable)
    return console.file.getvalue()


@pytest.mark.parametrize(("share", "drawn"), [(0, ""), (1e-9, "▏"), (0.5, "█████"), (0.55, "█████▌"), (1, "█" * 10)])
def test_a_bar_is_as_long_as_its_share(share, drawn):
    assert render(Bar(share)).strip() == drawn


def test_bars_of_nothing_are_drawn():
    assert render(bars([])).strip() == ""
    assert render(bars([("a", 0, "0")])).split() == ["a", "0"]


def test_a_dumb_terminal_gets_ascii(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert set(render(Bar(0.5), force_terminal=True, no_color=True).strip()) == {"#"}
    assert "#" in render(Curve([1, 2, 3], "a", "b"), force_terminal=True, no_color=True)


def test_a_curve_rises_with_its_numbers():
    *lines, axis = render(Curve([0, 1, 2, 4], "a", "b", height=2), width=9).splitlines()
    assert [line.rstrip() for line in lines] == ["      ██", "  ▄▄████"]
    assert axis.rstrip() == "a      b"
