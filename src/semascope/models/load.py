"""Loading any saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from semascope.errors import FormatError, InputError
from semascope.models.base import Model
from semascope.models.labeled import LabeledLDA
from semascope.models.labelled import LabelledModel
from semascope.models.layouts import KIND
from semascope.models.lda import LDA
from semascope.models.lsa import LSA
from semascope.models.online_labeled import OnlineLabeledLDA
from semascope.models.plsa import PLSA
from semascope.models.polylingual import PolylingualLDA
from semascope.models.topicmodel import TopicModel
from semascope.storage import open_directory

MODELS: dict[str, type[Model]] = {
    "LDA": LDA,
    "LSA": LSA,
    "LabeledLDA": LabeledLDA,
    "OnlineLabeledLDA": OnlineLabeledLDA,
    "PLSA": PLSA,
    "PolylingualLDA": PolylingualLDA,
}


def load(path: str | Path) -> Any:
    """Load a model that was saved; its arrays are memory-mapped. Nothing in the directory is executed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> directory = pathlib.Path(tempfile.mkdtemp()) / "model"
    >>> PLSA(1, random_state=0).fit(["one text", "another text"]).save(directory)
    >>> load(directory).top_words(1)
    [['text']]
    """
    directory = open_directory(path, KIND)
    name = directory.facts["model"]
    if name not in MODELS:
        msg = f"{path}: holds a model of kind {name!r}; this version knows {', '.join(MODELS)}."
        raise FormatError(msg)
    return MODELS[name]._from_directory(directory.seen_as(MODELS[name]._layout()))


def kind_of_model(path: str | Path) -> str:
    """Return the kind of model at a path, as far as its manifest tells."""
    return str(open_directory(path, KIND).facts["model"])


def load_topics(path: str | Path, *, or_labels: bool = False) -> Any:
    """Load a model that has topics, or perhaps labels in their place."""
    model = load(path)
    if isinstance(model, TopicModel) or (or_labels and isinstance(model, LabelledModel)):
        return model
    what, other = "which has no topics", f"semascope neighbors {path} WORD"
    if isinstance(model, LabelledModel):
        what, other = "whose topics are labels", f"semascope topics {path}"
    msg = f"{path}: holds {type(model).__name__}, {what}; look at it with: {other}"
    raise InputError(msg)


def load_labels(path: str | Path) -> Any:
    """Load a model that knows labels."""
    model = load(path)
    if not isinstance(model, LabelledModel):
        msg = f"{path}: holds {type(model).__name__}, which knows no labels; fit one that does: semascope fit … --model labeled"
        raise InputError(msg)
    return model
