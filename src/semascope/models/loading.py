"""Loading of saved models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from semascope.errors import FormatError, InputError
from semascope.models.layouts import KIND
from semascope.models.registry import LABELS, TOPICS, entries
from semascope.storage import open_directory


def load(path: str | Path) -> Any:
    """Load a saved model with memory-mapped arrays; nothing in the directory is executed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from semascope import PLSA
    >>> directory = pathlib.Path(tempfile.mkdtemp()) / "model"
    >>> PLSA(1, random_state=0).fit(["one text", "another text"]).save(directory)
    >>> load(directory).top_words(1)
    [['text']]
    """
    directory, known = open_directory(path, KIND), entries()
    name = directory.facts["model"]
    if name not in known:
        msg = f"{path}: holds a model of kind {name!r}; this version knows {', '.join(sorted(known))}."
        raise FormatError(msg)
    model = known[name].load_class()
    return model._from_directory(directory.with_layout(model._layout()))


def kind_of_model(path: str | Path) -> str:
    """Return the class name in the manifest of a saved model."""
    return str(open_directory(path, KIND).facts["model"])


def load_topics(path: str | Path, *, or_labels: bool = False) -> Any:
    """Load a model with topics or, if allowed, with labels."""
    model = load(path)
    if model.kind == TOPICS or (or_labels and model.kind == LABELS):
        return model
    what, other = "which has no topics", f"semascope neighbors {path} WORD"
    if model.kind == LABELS:
        what, other = "whose topics are labels", f"semascope topics {path}"
    msg = f"{path}: holds {type(model).__name__}, {what}; to show it, run: {other}"
    raise InputError(msg)


def load_labels(path: str | Path) -> Any:
    """Load a model with labels."""
    model = load(path)
    if model.kind != LABELS:
        msg = f"{path}: holds {type(model).__name__}, which has no labels; fit a label model: semascope fit … --model labeled"
        raise InputError(msg)
    return model
