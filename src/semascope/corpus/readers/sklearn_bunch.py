"""Bunches from scikit-learn's text loaders: data, target, target_names and filenames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from semascope.errors import SourceError

BUNCH = "the Bunch"


def is_bunch(source: Any) -> bool:
    """Return whether a source is a Bunch, or any mapping with data."""
    return isinstance(source, Mapping) and "data" in source


def frame_of_bunch(bunch: Mapping[str, Any]) -> pl.DataFrame:
    """Convert to a frame, with target names as labels, and file paths below the common folder as ids."""
    columns: dict[str, Any] = {"text": bunch["data"]}
    targets = None if bunch.get("target") is None else np.asarray(bunch["target"])
    names, files = bunch.get("target_names"), bunch.get("filenames")
    names = () if names is None else names
    problem = _problem_of_texts(columns["text"]) or _problem_of_targets(targets, names, len(columns["text"]))
    if not problem and files is not None and len(files) != len(columns["text"]):
        problem = f"there are {len(columns['text']):,} texts, but {len(files):,} filenames"
    if problem:
        msg = f"{BUNCH}: {problem}."
        raise SourceError(msg)
    if targets is not None:
        columns["labels"] = [str(names[target] if _are_named(targets, names) else target) for target in targets.tolist()]
    if files is not None:
        columns["id"] = _ids([Path(str(file)) for file in files])
    return pl.DataFrame({name: list(values) for name, values in columns.items()}, schema=dict.fromkeys(columns, pl.String))


def _problem_of_texts(texts: Any) -> str | None:
    if getattr(texts, "ndim", 1) != 1:
        return "the data are a matrix, not texts; use Corpus.from_matrix"
    number, other = next(((number, text) for number, text in enumerate(texts) if not isinstance(text, str)), (0, ""))
    if isinstance(other, bytes):
        return f'text {number} is bytes; load them with an encoding, as in load_files(…, encoding="utf-8")'
    return None if isinstance(other, str) else f"text {number} is not a string, but {type(other).__name__}"


def _problem_of_targets(targets: Any, names: Any, n_texts: int) -> str | None:
    if targets is None:
        return None
    if targets.ndim != 1 or targets.dtype.kind not in "iuOU":
        return "expected a whole number or a string for each text as its target"
    if len(targets) != n_texts:
        return f"there are {n_texts:,} texts, but {len(targets):,} targets"
    if not _are_named(targets, names) or not len(outside := targets[(targets < 0) | (targets >= len(names))]):
        return None
    return f"there is a target {outside[0]}, but target_names has {len(names):,} names"


def _are_named(targets: Any, names: Any) -> bool:
    """Return whether targets are numbers with names."""
    return targets.dtype.kind in "iu" and len(names) > 0


def _ids(files: list[Path]) -> list[str]:
    """Return the paths below the common folder of all files."""
    folders = [file.parts[:-1] for file in files]
    first, last = min(folders, default=()), max(folders, default=())
    n_common = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return ["/".join(file.parts[n_common:]) for file in files]
