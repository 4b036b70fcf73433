"""What README and docs show works as printed."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from documentation.blocks import COMMANDS, PAGES, ROOT, RUN, blocks_of, commands_of, extras, is_printed, reasons_of, targets
from semascope.cli.main import main

SHOWN_ONLY = ("text", "json", "")
"""Blocks that are there to be read."""

OUTPUTS_OF = (3, 11)
"""The demo corpus is a part of Python, so what is found in it depends on the version. Outputs in the pages are of this one."""

PORT = "8000"
"""Where servers listen in the pages."""

NOT_RUN = {
    "docs/howto/clusters.md": 5,
    "docs/howto/explorer.md": 2,
    "docs/howto/languages.md": 1,
    "docs/howto/migrating.md": 3,
    "docs/tutorial.md": 1,
}
"""How many blocks of a page cannot be run here. Think twice before you add to them."""


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def needs_a_shell(command):
    """Whether there is more to a command than words, and perhaps a file at its end to print to."""
    words = list(shlex.shlex(command.partition(" > ")[0], punctuation_chars=True))
    return any(set(word) <= set("();<>|&") for word in words) or re.search(r"[$*`~]", command)


def environment():
    """Where commands find ours, and curl waits for a server and takes errors for errors."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    Path(".curlrc").write_text("fail\nretry = 30\nretry-connrefused\nretry-delay = 1\n")
    return os.environ | {"PATH": path, "CURL_HOME": "."}


class Reader:
    """Someone who does what a page says, in a folder of their own."""

    def __init__(self, page, capsys, monkeypatch, servers):
        self.page, self.capsys, self.monkeypatch, self.servers = page, capsys, monkeypatch, servers
        self.names = {"__name__": "__main__"}
        self.address = PORT

    def do(self, block):
        if block.title:
            with Path(block.title).open("a", encoding="utf-8") as file:
                file.write(block.body)
        elif block.language == "python":
            self.run_python(block)
        else:
            for command, printed in commands_of(block):
                self.see_that(printed, self.run_command(command), block)

    def run_python(self, block):
        self.capsys.readouterr()
        exec(compile("\n" * (block.line - 1) + block.body, str(self.page), "exec"), self.names)
        self.see_that(block.printed, self.capsys.readouterr().out, block)

    def see_that(self, printed, got, block):
        if printed is not None and sys.version_info[:2] == OUTPUTS_OF:
            assert is_printed(printed, got), f"{name_of(self.page)}, line {block.line}, shows\n{printed}\nbut this came:\n{got}"

    def run_command(self, command):
        program, *rest = shlex.split(command, comments=True)
        if program == "pip":
            return self.check_extras(command)
        if program == "make":
            assert set(rest[:1]) <= set(targets()), command
            return ""
        if program == "semascope" and rest[0] == "explore" and rest[-1] == "&":
            return self.start_a_server(command)
        if program == "semascope" and not needs_a_shell(command):
            return self.run_here(command)
        return self.run_in_a_shell(command)

    def check_extras(self, command):
        assert set(re.findall(r"\w+", "".join(re.findall(r"\[(.*?)\]", command)))) <= set(extras()), command
        return ""

    def run_here(self, command):
        """Commands of our own run in this process, which has compiled kernels at hand."""
        command, _, file = command.partition(" > ")
        self.capsys.readouterr()
        self.monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
        with pytest.raises(SystemExit) as stopped:
            main()
        printed, said = self.capsys.readouterr()
        assert stopped.value.code == 0, f"{name_of(self.page)}: {command}\n{said}"
        assert printed, command
        if file:
            Path(file).write_text(printed, encoding="utf-8")
        return printed

    def start_a_server(self, command):
        """It gets a port that is free, which later commands then mean, and is stopped when another starts or the page ends."""
        self.servers.close()
        command = f"exec {command.removesuffix('&').replace(f' --port {PORT}', '')} --port 0"
        server = subprocess.Popen(["bash", "-c", command], stderr=subprocess.PIPE, text=True, env=environment())
        self.servers.enter_context(server)
        self.servers.callback(server.terminate)
        said = server.stderr.readline()
        assert "open http://127.0.0.1:" in said, said
        self.address = re.search(r"127\.0\.0\.1:(\d+)", said)[1]
        return ""

    def run_in_a_shell(self, command):
        strict = ["bash", "-euo", "pipefail", "-c", command.replace(f"localhost:{PORT}", f"localhost:{self.address}")]
        ran = subprocess.run(strict, capture_output=True, text=True, check=False, timeout=60, env=environment())
        assert ran.returncode == 0, f"{name_of(self.page)}: {command}\n{ran.stderr}"
        return ran.stdout


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_shows_can_be_done(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.syspath_prepend(tmp_path)
    with ExitStack() as servers:
        reader = Reader(page, capsys, monkeypatch, servers)
        for block in blocks_of(page):
            if not block.reason and (block.title or block.language in RUN):
                reader.do(block)
    for name in tmp_path.glob("*.py"):
        sys.modules.pop(name.stem, None)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_it_is(page):
    unknown = [(block.line, block.language) for block in blocks_of(page) if block.language not in RUN + SHOWN_ONLY]
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_that_cannot_be_run_are_few_and_say_why(page):
    not_run = [block for block in blocks_of(page) if block.reason and block.language in RUN]
    assert [block.reason for block in not_run] == reasons_of(page), "a marking stands right before the block it is for"
    assert len(not_run) == NOT_RUN.get(name_of(page), 0)


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=name_of)
def test_links_of_pages_beside_the_site_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text(encoding="utf-8"))
    there = [(ROOT / path if path else page, anchor) for path, anchor in links]
    assert not [path for path, _ in there if not path.exists()]
    assert not [anchor for path, anchor in there if anchor and anchor not in anchors_of(path)]


def anchors_of(page):
    """Anchors of headings, as hosts of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_of_the_package_that_a_page_names_exist(page):
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text(encoding="utf-8")))
    homes = [ROOT, ROOT / "src/semascope", ROOT / "src/semascope/corpus"]
    assert not [name for name in sorted(named) if not any((home / name).is_file() for home in homes)]


def test_the_readme_has_at_most_200_lines():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_commands_are_found_as_users_type_them():
    blocks = [block for page in PAGES for block in blocks_of(page) if block.language in COMMANDS]
    commands = [command for block in blocks for command, _ in commands_of(block)]
    assert len(commands) > 50
    assert "semascope topics model" in commands


@pytest.mark.parametrize(
    ("want", "got", "same"),
    [
        ("one  two\n", "one two", True),
        ("one two", "one three", False),
        ("one …", "one three", True),
        ("one …", "one\nthree", False),
        ("one\n…\nlast", "one\ntwo\nthree\nlast", True),
        ("one\n…\nlast", "one\ntwo", False),
        ("one", "one\ntwo", False),
    ],
)
def test_dots_stand_for_anything_and_nothing_else_does(want, got, same):
    assert is_printed(want, got) is same
