"""The code blocks of a page of documentation: found as readers see them, and run as readers would.

- A ```python block is run with the names of those before it.
- A ```sh block holds commands; in a ```console block they follow a `$`, and what they print stands below them.
- A ```text block right after a block is what that prints.
- A block with a title is a file of that name.
- `<!-- not run: REASON -->` stands before a block that cannot be run here.

In what is printed, … stands for anything within a line, and a line of … for any lines. Installing and making things is not
done: it is only seen that there is such an extra or target.
"""

import re
import shlex
import textwrap
import tomllib
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")
TITLE = re.compile(r'title="([^"]+)"')
COMMANDS = ("sh", "console")
RUN = ("python", *COMMANDS)


class Block(NamedTuple):
    """One block.

    language  first word behind the fence, which may be missing
    title     name of the file that it is, if it is one
    body      its text
    line      number of its first line in the page
    printed   what the page says that it prints, if it does
    reason    why it is not run, if it is not
    """

    language: str
    title: str | None
    body: str
    line: int
    printed: str | None
    reason: str | None


def blocks_of(page):
    """All blocks of a page, in order."""
    content = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(content))
    found = []
    for fence, following in zip_longest(fences, fences[1:]):
        language, _, rest = fence["info"].partition(" ")
        title, before = TITLE.search(rest), content[: fence.start()].rstrip().rpartition("\n")[2]
        reason, printed = NOT_RUN.fullmatch(before.strip()), None
        if following and following["info"] == "text" and not content[fence.end() : following.start()].strip():
            printed = textwrap.dedent(following["body"])
        line = content.count("\n", 0, fence.start("body")) + 1
        body = textwrap.dedent(fence["body"])
        found.append(Block(language, title and title[1], body, line, printed, reason and reason[1]))
    return found


def reasons_of(page):
    """Why blocks of a page are not run, wherever outside of blocks that is said."""
    return NOT_RUN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


def file_of(page, title):
    """What the page says that a file holds, all blocks of that title one after the other."""
    return "\n\n".join(block.body for block in blocks_of(page) if block.title == title)


def commands_of(block):
    """Commands of a block, each with what the page says that it prints, or None."""
    lines = block.body.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    if block.language == "sh":
        shown = [(command, None) for command in _statements(lines)]
    else:
        assert starts[:1] == [0], f"line {block.line}: a console block begins with a command after $"
        parts = [lines[first:last] for first, last in zip(starts, [*starts[1:], len(lines)], strict=True)]
        shown = [_typed_and_printed(part) for part in parts]
    return shown if block.printed is None else [*shown[:-1], (shown[-1][0], block.printed)]


def _statements(lines):
    """Lines of a shell that belong together: quotations, lines that end with a backslash, and texts up to their last line."""
    found, open_lines = [], []
    for line in lines:
        open_lines.append(line)
        whole = "\n".join(open_lines)
        until = re.search(r"<<\s*'?(\w+)'?", open_lines[0])
        if line.endswith("\\") or (until and line != until[1]) or not _is_closed(whole, until):
            continue
        if whole.strip() and not whole.startswith("#"):
            found.append(whole)
        open_lines = []
    assert not open_lines, "the last command has no end"
    return found


def _is_closed(text, until):
    try:
        return bool(until) or shlex.split(text, comments=True) is not None
    except ValueError:
        return False


def _typed_and_printed(lines):
    """The first command of these lines, and the rest of them, if there is any."""
    n_typed = next((number for number, line in enumerate(lines, 1) if not line.endswith("\\")), len(lines))
    return "\n".join(lines[:n_typed])[2:], "\n".join(lines[n_typed:]) or None


def is_printed(want, got):
    """Whether that was printed which a page says: blanks count as one, and … for anything."""
    lines = [r"(?:.*\n)*?" if line.strip() == "…" else _pattern(line) + r"\n" for line in want.strip().splitlines()]
    return re.fullmatch("".join(lines), "".join(f"{_plain(line)}\n" for line in got.strip().splitlines())) is not None


def _plain(line):
    return re.sub(r"\s+", " ", line).strip()


def _pattern(line):
    return re.escape(_plain(line)).replace("…", ".*?")


def extras():
    """Names of what can be installed along."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def targets():
    """What `make` can make."""
    return re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
