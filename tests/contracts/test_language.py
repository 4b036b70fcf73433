"""The package speaks the field's language: docstrings open with its verbs, and the glossary's banned words do not occur."""

import ast
import re
from pathlib import Path

import pytest

import semascope

ROOT = Path(semascope.__file__).parent
OPENINGS = {"Give", "Gives", "Tell", "Tells", "Say", "Says", "See", "Take", "Let", "Have", "What", "How", "Which", "Where"}
"""Words that no docstring of a function opens with: see the glossary in CONTRIBUTING."""
BANNED = {
    r"\bsettle[sd]?\b": "converge",
    r"\b(come|comes|came|coming) to rest\b|\bat rest\b": "converge",
    r"\blook(s|ing)? on\b(?! )": "callback",
    r"\bwhoever\b": "name the user or the caller",
    r"\bmost iterations\b": "maximum number of iterations",
    r"labell|neighbour|colour|judgement|favour": "American",
    r"(token|normal|maxim|minim|recogn|random|vector)is|optimis(e|ing|ation)": "American",
}
"""Terms of a private dialect, and the term that the glossary has."""
QUOTED = {"training/stopping.py"}
"""Files that state an old value."""


def sources():
    return sorted(ROOT.rglob("*.py"))


def docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, ast.get_docstring(node) or ""


def test_docstrings_of_functions_open_with_a_verb_of_the_field():
    wrong = [
        f"{path.relative_to(ROOT)}: {name}: {text.splitlines()[0]}"
        for path in sources()
        for name, text in docstrings(ast.parse(path.read_text()))
        if text and re.split(r"\W", text, maxsplit=1)[0] in OPENINGS
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("pattern", BANNED)
def test_banned_words_do_not_occur(pattern):
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources()
        if str(path.relative_to(ROOT)) not in QUOTED
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert not wrong, f"say {BANNED[pattern]!r}:\n" + "\n".join(wrong)


def test_no_name_opens_with_see():
    names = [node.name for path in sources() for node in ast.walk(ast.parse(path.read_text())) if hasattr(node, "name")]
    assert not [name for name in names if isinstance(name, str) and re.match(r"_?see_", name)]
