"""Foreign text on the terminal: whatever documents, labels, words, ids and file names hold, no command prints it raw."""

import ast
import inspect
import io
import json
import math
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.table import Table
from rich.text import Text

import semascope.cli
from semascope import LDA, LSA, Analyzer, Corpus, LabeledLDA, PolylingualLDA, load, workflow
from semascope.cli.app import app, topic_table
from semascope.cli.main import COMMANDS
from semascope.cli.render.screen import Parts, Screen
from semascope.cli.render.terminal import (
    MAX_LINE_LENGTH,
    console,
    is_sanitized,
    print_json,
    print_next_step,
    print_text,
    readable,
    sanitize,
)

CONTROLS = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\b"
"""No blanks among them, so that a word or an id of TREC can be made of them."""
HOSTILE = f"{CONTROLS}\r\nNext: rm -rf ~"
LONG = f"{CONTROLS}{'long ' * 400_000}"
"""Two megabytes."""
NAME = "name" * 500_000
"""Names of topics are printable, but of any length."""
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ud800-\udfff]")
COLORS = re.compile(r"\x1b\[[\d;]*m")
LIVE = re.compile(r"\r?\x1b\[(?:[\d;]*m|\?25[lh]|1?A|2K)")
"""Colors, and what rich draws a line again with."""
MAX_LINES, WIDTH = 400, 80


def lines_on_screen(text: str) -> int:
    return sum(max(1, math.ceil(len(line) / WIDTH)) for line in text.splitlines())


def assert_harmless(text: str, allowed: re.Pattern[str] | None = None) -> None:
    left = allowed.sub("", text) if allowed else text
    assert sorted(set(RAW.findall(left))) == []
    assert not any(line.startswith("Next: rm") for line in left.splitlines()), "documents make no lines of their own"
    assert "Traceback" not in left


# --- all commands ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """Corpora, models and an index of hostile documents; `at` is where they are, `out` where to write."""

    at: Path
    out: Path

    def __getattr__(self, name: str) -> Path:
        return self.at / name

    def copy(self, name: str) -> Path:
        """A directory that may be changed."""
        target = self.out / f"{name}{HOSTILE}"
        shutil.copytree(self.at / name, target, dirs_exist_ok=True)
        return target


def records() -> Iterator[dict[str, Any]]:
    for number in range(12):
        words = [f"{CONTROLS}{'odd' if number % 2 else 'even'}{one}" for one in range(6)]
        long = [LONG.replace(" ", "")] if number == 4 else []
        yield {
            "id": LONG if number == 4 else f"{CONTROLS if number % 2 else HOSTILE}{number}",
            "text": " ".join([*words, *words[number % 3 :], *long, f"plain\n{HOSTILE}"]),
            "labels": [f"{HOSTILE}{number % 2}", *([LONG] if number == 4 else [])],
            "title": LONG if number == 4 else HOSTILE,
            "date": HOSTILE,
            HOSTILE: HOSTILE,
        }


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    at = tmp_path_factory.mktemp("hostile") / "home"
    at.mkdir()
    analyzer = Analyzer(token_pattern="[^ ]+", lowercase=False)
    (at / "source.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records()))
    corpus = Corpus.build(pl.DataFrame(list(records())), analyzer, path=at / "corpus")
    LDA(2, random_state=0, max_iter=5).fit(corpus).save(at / "lda")
    LSA(2, random_state=0).fit(corpus).save(at / "lsa")
    LabeledLDA(random_state=0, max_iter=5, background=1).fit(corpus).save(at / "labeled")
    named = load(at / "lda")
    named.rename_topics({0: NAME}).save(at / "named")
    workflow.index(at / "named", at / "index")
    texts = [{"en": f"cats {number}", HOSTILE: f"Katzen {number}"} for number in range(6)]
    both = Corpus.from_texts(texts)
    both.save(at / "both")
    PolylingualLDA(2, random_state=0, max_iter=5).fit(Corpus.open(at / "both")).save(at / "polylingual")
    (at / "queries.jsonl").write_text(json.dumps({"id": f"{CONTROLS}q", "text": f"{CONTROLS}odd1"}) + "\n")
    (at / "qrels").write_text(f"{CONTROLS}q 0 {CONTROLS}1 1\n")
    (at / "stream.jsonl").write_text((at / "source.jsonl").read_text() + HOSTILE.replace("\n", "") + "\n")
    (at / "words").write_text(f"{CONTROLS}one\n{CONTROLS}two\n")
    (at / "counts.ldac").write_text("2 0:1 1:2\n1 1:3\n")
    (at.parent / HOSTILE).symlink_to(at)
    return at


WORD = f"{CONTROLS}odd1"
TEXT = f"{WORD} {CONTROLS}even1\n{CONTROLS}\r"
"""Lines of a text that is shown as it stands stay lines."""
Arguments = list[list[object]]
CASES: dict[str, Callable[[World], Arguments]] = {
    "build": lambda w: [
        [w.at / "source.jsonl", w.out / f"c{HOSTILE}", "--keep", f"title,{HOSTILE},no{HOSTILE}", "--overwrite"],
        [w.at / "counts.ldac", w.out / "counted", "--vocabulary", w.words, "--overwrite"],
        [w.at / "stream.jsonl", w.out / "some", "--skip-bad", "--overwrite"],
    ],
    "fit": lambda w: [
        [w.corpus, w.out / f"m{HOSTILE}", "--topics", 2, "--max-iter", 3, "--overwrite"],
        [w.corpus, w.out / "labeled", "--model", "labeled", "--max-iter", 3, "--overwrite"],
        [w.corpus, w.out / "lsa", "--model", "lsa", "--topics", 2, "--overwrite"],
    ],
    "topics": lambda w: [[w.named], [w.labeled], [w.polylingual]],
    "infer": lambda w: [[w.named, w.at / "source.jsonl"], [w.named, w.at / "source.jsonl", "--words"]],
    "predict": lambda w: [[w.labeled, w.at / "source.jsonl"]],
    "attribute": lambda w: [[w.labeled, TEXT], [w.labeled, TEXT, "--passage", f"{HOSTILE}1"]],
    "stream": lambda w: [[w.out / f"s{HOSTILE}", "--input", w.at / "stream.jsonl"]],
    "counterparts": lambda w: [[w.polylingual, w.both, "--from", "en", "--to", HOSTILE]],
    "neighbors": lambda w: [[w.lsa, WORD], [w.lsa, f"{CONTROLS}1"]],
    "index": lambda w: [[w.named, w.out / f"i{HOSTILE}", "--overwrite"]],
    "search": lambda w: [[w.index, f"{WORD} {HOSTILE}"], [w.index, "--like", f"{CONTROLS}1"], [w.index, "unknown\x1b[2J"]],
    "index-add": lambda w: [[w.copy("index"), w.at / "source.jsonl", "--replace"]],
    "index-delete": lambda w: [[w.copy("index"), f"{CONTROLS}1"]],
    "index-merge": lambda w: [[w.copy("index")]],
    "edit": lambda w: [[w.named, w.out / f"e{HOSTILE}", "--rename", f"1={NAME}s", "--overwrite"]],
    "evaluate": lambda w: [[w.named], [w.labeled]],
    "evaluate-search": lambda w: [
        [w.index, w.at / "queries.jsonl", w.qrels],
        [w.index, w.at / "queries.jsonl", w.qrels, "--by", "bm25", "--run", w.out / f"run{HOSTILE}"],
        [w.qrels, "--run-in", w.out / f"run{HOSTILE}"],
    ],
    "sweep": lambda w: [[w.corpus, "--topics", "2,3", "--max-iter", 2, "--out", w.out / f"p$x$_{HOSTILE}.svg"]],
    "info": lambda w: [[w.corpus], [w.named], [w.labeled], [w.lsa], [w.index], [w.both]],
    "explore": lambda w: [[w.named, "--port", 0, "--no-open"]],
    "report": lambda w: [[w.named, w.out / f"r{HOSTILE}.html", "--title", HOSTILE, "--overwrite"]],
    "demo": lambda w: [[w.out / f"demo{HOSTILE}", "--topics", 2]],
}
TAKES_JSON = {
    one.callback.__name__.replace("_", "-"): "as_json" in inspect.signature(one.callback).parameters
    for one in app.registered_commands
}


@pytest.fixture
def hostile_run(run, world, monkeypatch):
    """Run a command; the server stops as soon as it has said where it is, and the demo reads few documents."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    from semascope.corpus.readers.sources import read

    few = world.out / "few.jsonl"
    few.write_text("".join(json.dumps({"id": f"{n}", "text": f"word{n % 20} another{n % 20}"}) + "\n" for n in range(200)))
    monkeypatch.setattr("uvicorn.Server.run", stop)
    monkeypatch.setattr(
        "semascope.corpus.readers.sources.read", lambda source, **told: read(few if source == "stdlib:" else source, **told)
    )
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    return run


@pytest.fixture
def world(home, tmp_path):
    return World(home, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("names", ["plain names", "hostile names"])
def test_every_command_prints_hostile_text_harmlessly(hostile_run, world, command, names):
    if names == "hostile names":
        world = replace(world, at=world.at.parent / HOSTILE)
    for arguments in CASES[command](world):
        ran = hostile_run(command, *arguments)
        assert ran.code == 0, ran.err[:2000]
        assert_harmless(ran.out)
        assert_harmless(ran.err)
        assert lines_on_screen(ran.out) + lines_on_screen(ran.err) < MAX_LINES


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_prints_hostile_text_harmlessly_on_a_terminal(hostile_run, world, command, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("semascope.cli.render.stream_view.TABLE_SECONDS", 0)
    for arguments in CASES[command](world):
        ran = hostile_run(command, *arguments)
        assert ran.code == 0, ran.err[:2000]
        assert_harmless(ran.out, COLORS)
        assert_harmless(ran.err, LIVE)
        assert lines_on_screen(COLORS.sub("", ran.out)) < MAX_LINES


@pytest.mark.parametrize("command", [command for command in COMMANDS if TAKES_JSON[command]])
def test_json_is_harmless_and_loses_nothing(hostile_run, world, command):
    for arguments in CASES[command](world):
        ran = hostile_run(command, *arguments, "--json")
        assert_harmless(ran.out)
        assert_harmless(ran.err)
        assert len(ran.json) == ran.out.count("\n") < MAX_LINES


def test_json_holds_hostile_names_as_they_are(run, world):
    assert run("topics", world.named, "--json").json[0]["name"] == NAME
    labels = [label["label"] for label in run("topics", world.labeled, "--json").json]
    assert {LONG, f"{HOSTILE}0", f"{HOSTILE}1"} <= set(labels)


def test_names_of_topics_are_printed_harmlessly_even_if_a_model_holds_others_than_we_give(home, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    model = load(home / "lda")
    model._topic_names = [HOSTILE, LONG]
    console().print(topic_table(model, n_words=8))
    out = capsys.readouterr().out
    assert_harmless(out)
    assert lines_on_screen(out) < MAX_LINES


# --- mistakes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", f"no{HOSTILE}", "corpus"],
        ["build", "no\udc9b\udcff", "corpus"],
        ["build", "source.jsonl", "corpus", "--format", HOSTILE],
        ["topics", f"no{HOSTILE}"],
        ["infer", "lda", f"no{LONG}"],
        ["neighbors", "lsa", f"no{HOSTILE}"],
        ["neighbors", "lsa", f"no{LONG}"],
        ["attribute", "labeled", "odd", "--label", f"no{LONG}"],
        ["search", "index", "--like", HOSTILE],
        ["search", "index", "x", "--by", HOSTILE],
        ["search", "index", "x", "--where", f"no{HOSTILE}=1"],
        ["edit", "lda", "--rename", f"no{HOSTILE}=1"],
        ["edit", "lda", "--rename", f"1={HOSTILE}"],
        ["index-delete", "index", f"no{HOSTILE}"],
        ["explore", "lda", "--host", f"no{HOSTILE}"],
        ["evaluate-search", "qrels", "--run-in", f"no{HOSTILE}"],
    ],
)
def test_what_goes_wrong_is_one_harmless_sentence(run, home, monkeypatch, arguments):
    monkeypatch.chdir(home)
    ran = run(*arguments)
    assert ran.code == 1
    assert ran.err.startswith("semascope: ")
    assert ran.err.count("\n") == 1
    assert len(ran.err) <= MAX_LINE_LENGTH + 1
    assert_harmless(ran.out)
    assert_harmless(ran.err)


@pytest.mark.parametrize(
    "arguments",
    [
        [HOSTILE],
        [f"--{HOSTILE}"],
        ["topics", "lda", HOSTILE],
        ["topics", "lda", f"--words={HOSTILE}"],
        ["topics", "lda", f"--words={LONG}"],
        ["topics", "lda", f"--{HOSTILE}"],
        ["topics", "lda", f"-{HOSTILE}"],
        ["fit", "corpus", "m", "--model", HOSTILE],
        ["search", "index", "x", "--where", HOSTILE],
        ["infer", "polylingual", "source.jsonl", "--language", f"no{HOSTILE}"],
        ["evaluate-search", "index", "queries.jsonl", "qrels", "--by", "bm25", "--run", f"no{HOSTILE}/x"],
    ],
)
def test_arguments_that_make_no_sense_are_quoted_harmlessly(run, home, monkeypatch, arguments):
    monkeypatch.chdir(home)
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert_harmless(ran.err, COLORS)
    assert lines_on_screen(ran.err) < 60


# --- what to do next -------------------------------------------------------------------------------------------------------


def test_a_command_that_cannot_be_printed_as_it_is_typed_is_not_proposed(capsys):
    print_next_step(["semascope", "topics", HOSTILE], ["semascope", "topics", LONG], ["semascope", "topics", "good one"])
    assert capsys.readouterr().out == "Next: semascope topics 'good one'\n"


def test_no_name_in_a_proposed_command_is_read_by_the_shell(run, world, capsys):
    for name in (">", "a'>'b", "$(rm)", "; rm", "`rm`"):
        print_next_step(["semascope", "search", "index", "--like", name])
        (line,) = capsys.readouterr().out.splitlines()
        assert shlex.split(line.removeprefix("Next: "))[-1] == name
    assert run("predict", world.labeled, world.at / "source.jsonl").next_commands[0].endswith(" --json > labels.jsonl")


def test_the_nearest_word_that_can_be_typed_is_proposed(run, tmp_path):
    texts = [f"cat dog {CONTROLS}", f"cat {CONTROLS}", "cat dog bird", "bird tax"]
    Corpus.from_texts(texts, analyzer=Analyzer(token_pattern="[^ ]+", lowercase=False)).save(tmp_path / "corpus")
    LSA(2, random_state=0).fit(Corpus.open(tmp_path / "corpus")).save(tmp_path / "lsa")
    ran = run("neighbors", tmp_path / "lsa", "cat")
    assert sanitize(CONTROLS) in ran.out
    (proposed,) = ran.next_commands
    assert shlex.split(proposed)[-1] in ("dog", "bird", "tax")


# --- the seam --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "नमस्ते दुनिया",
        "می\u200cخواهم",
        "👩\u200d👩\u200d👧 👋🏽 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "שָׁלוֹם עולם",
        "e\u0301 \u200e\u200f",
        "漢字　かな",
        "ไทย\u200bไทย",
        "a\u00a0b",
        "§ ∑ €",
    ],
)
def test_text_of_every_script_stays_as_it_is(text):
    assert sanitize(text) == text
    assert is_sanitized(text)


def test_whatever_is_forbidden_becomes_one_visible_sign_or_a_blank():
    assert sanitize("\x1b[2J\x9bm\u202e\u2066\udc80\x00\x7f") == "�[2J�m�����"
    assert sanitize("a\tb\nc\rd\u2028e\x85f") == "a b c d e f"
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert RAW.search(sanitize(everything)) is None
    assert "\n" not in sanitize(everything)
    assert len(sanitize(everything)) == len(everything)


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 11])
def test_what_is_too_long_is_cut_to_its_beginning_and_its_end(limit):
    assert sanitize("x" * limit, limit) == "x" * limit
    cut = sanitize(f"a{'x' * 1000}z", limit)
    assert len(cut) == limit
    assert "…" in cut
    assert limit < 3 or (cut[0], cut[-1]) == ("a", "z")


def test_halves_of_characters_are_no_text_but_all_else_is_read_as_it_is():
    assert readable("a\udcffb\n\x1b\u202e") == "a�b\n\x1b\u202e"


def test_json_gives_back_every_character(capsys):
    characters = [chr(number) for number in range(0x11000)]
    print_json(characters)
    out = capsys.readouterr().out
    assert_harmless(out)
    assert json.loads(out) == characters
    assert "é" in out
    assert "\u200d" in out


def test_lines_on_standard_error_are_ours_alone(capsys):
    print_text(f"a {HOSTILE}", "b", LONG)
    first, second, third = capsys.readouterr().err.splitlines()
    assert (first, second, len(third)) == (f"a {sanitize(HOSTILE)}", "b", MAX_LINE_LENGTH)


class Castable:
    def __rich__(self) -> Text:
        return Text(HOSTILE)


@pytest.mark.parametrize(
    "shown",
    [
        HOSTILE,
        Text(HOSTILE),
        Text(LONG, "bold"),
        Castable(),
        Parts(HOSTILE, (LONG, "bold")),
        LONG,
        {"a": HOSTILE},
        [HOSTILE],
        Path(HOSTILE),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_a_screen_prints_anything_harmlessly_also_inside_of_tables(shown):
    screen = Screen(file=io.StringIO(), width=WIDTH, force_terminal=True, markup=False, highlight=False, emoji=False)
    screen.print(shown)
    if isinstance(shown, str | Text | Parts | Castable):
        table = Table(HOSTILE, title=HOSTILE)
        table.add_row(shown)
        screen.print(table)
    assert_harmless(screen.file.getvalue(), COLORS)
    assert lines_on_screen(COLORS.sub("", screen.file.getvalue())) < 40


def test_columns_stay_aligned_whatever_is_in_the_cells():
    screen = Screen(file=io.StringIO(), width=WIDTH, markup=False, highlight=False, emoji=False)
    table = Table("name", "number", box=None)
    for name in ("plain", HOSTILE, Parts((HOSTILE, "bold")), "見出し"):
        table.add_row(name, "|")
    screen.print(table)
    assert len({Text(line.rstrip()).cell_len for line in screen.file.getvalue().splitlines()[1:]}) == 1


def test_lists_are_as_long_as_they_are():
    screen = Screen(file=io.StringIO(), width=WIDTH, soft_wrap=True)
    words = [f"word{number}" for number in range(5000)]
    screen.print(Parts(*words, separator=" "))
    assert screen.file.getvalue().split() == words


SEAM = {"terminal.py", "screen.py"}


def test_no_other_module_of_the_command_line_prints():
    for path in Path(semascope.cli.__file__).parent.glob("*.py"):
        used = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        forbidden = {"print", "typer.echo", "typer.secho", "echo", "Console", "Screen", "sys.stdout.write", "sys.stderr.write"}
        assert path.name in SEAM or not used & forbidden, path.name
