"""Docstrings of the running Python's standard library, parsed from its sources without importing them."""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from semascope.corpus.readers.record_fields import Fields, as_documents

LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "__pycache__", "turtledemo", "_pyrepl"}
"""Not part of the library proper: its tests, its editor, and installed packages."""


MIN_WORDS = 15
"""Minimum length: shorter docstrings have too little content for a topic."""


def read_standard_library(keep: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    """Yield one block of all docstrings of sufficient length: the qualified name is the id, the top-level module the label."""
    root = Path(sysconfig.get_path("stdlib"))
    found = [entry for path in sorted(root.rglob("*.py")) for entry in _docstrings(path.relative_to(root), root)]
    found = list({name: (name, text, label) for name, text, label in reversed(found)}.values())[::-1]
    columns = {
        "id": [name for name, _, _ in found],
        "text": [text for _, text, _ in found],
        "labels": [label for _, _, label in found],
    }
    yield as_documents(pl.DataFrame(columns), Fields(keep=keep), "stdlib:")


def _docstrings(path: Path, root: Path) -> Iterator[tuple[str, str, str]]:
    parts = [part for part in path.with_suffix("").parts if part != "__init__"]
    if not parts or LEFT_OUT.intersection(parts) or parts[0] not in sys.stdlib_module_names:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in old modules do not matter here
            tree = ast.parse((root / path).read_bytes())
    except (SyntaxError, OSError, ValueError):
        return  # template files and the like
    yield from _walk(tree, ".".join(parts), parts[0])


def _walk(node: ast.AST, name: str, label: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        docstring = ast.get_docstring(node, clean=False)
        if docstring and len(docstring.split()) >= MIN_WORDS:
            yield name, inspect.cleandoc(docstring), label
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in node.body:
            yield from _walk(child, f"{name}.{getattr(child, 'name', '')}", label)
