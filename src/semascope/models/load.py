"""Loading any saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from semascope.errors import FormatError, InputError
from semascope.models.base import FORMAT, VERSION, Model
from semascope.models.lda import LDA
from semascope.models.lsa import LSA
from semascope.models.plsa import PLSA
from semascope.models.polylingual import PolylingualLDA
from semascope.models.topicmodel import TopicModel
from semascope.storage import open_directory

MODELS: dict[str, type[Model]] = {"LDA": LDA, "LSA": LSA, "PLSA": PLSA, "PolylingualLDA": PolylingualLDA}


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
    directory = open_directory(path, FORMAT, VERSION)
    name = directory.facts["model"]
    if name not in MODELS:
        msg = f"{path}: holds a model of kind {name!r}; this version knows {', '.join(MODELS)}."
        raise FormatError(msg)
    return MODELS[name]._from_directory(directory)


def load_topics(path: str | Path) -> Any:
    """Load a model that has topics."""
    model = load(path)
    if not isinstance(model, TopicModel):
        msg = f"{path}: holds {type(model).__name__}, which has no topics; look at it with: semascope neighbors {path} WORD"
        raise InputError(msg)
    return model
