"""Serialization of hyperparameters: plain values and priors in the manifest, arrays in separate files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semascope.errors import FormatError, InputError
from semascope.models.priors.informed import InformedPrior
from semascope.storage import MANIFEST, Directory, Draft
from semascope.storage.facts import ListOf, Never, Number, Record, Text

PRIOR = "InformedPrior"
_PRIOR = Record(
    {"categories": Record(others=ListOf(Text())), "strength": Number(), "base": Number(), "strengths": Record(others=Number())},
    others=Never(),
)
ARRAY = "setting_"


def write_settings(draft: Draft, settings: dict[str, Any]) -> None:
    """Write the serializable hyperparameters; an engine, for example, is not part of a model."""
    draft.facts["settings"] = {}
    for name, value in settings.items():
        plain = plain_setting(value)
        if value is None or isinstance(plain, bool | int | float | str | dict):
            draft.facts["settings"][name] = plain
        elif isinstance(value, np.ndarray | list | tuple) and np.asarray(value).dtype.kind in "fiu":
            draft.array(ARRAY + name, np.asarray(value))


def read_settings(directory: Directory, known: Sequence[str]) -> dict[str, Any]:
    """Read hyperparameters.

    Raises
    ------
    FormatError
        If there are unknown ones, or one that is never saved: a loaded engine would be executed.
    """
    stated = directory.facts["settings"]
    arrays = [file.removeprefix(ARRAY).removesuffix(".npy") for file in directory.manifest.files if file.startswith(ARRAY)]
    problem = next((f"there is no setting {name!r}" for name in (*stated, *arrays) if name not in known), None)
    if any(isinstance(value, list) for value in stated.values()):
        problem = "a setting must not be a list"
    if stated.get("engine") is not None or "engine" in arrays or isinstance(stated.get("analyzer"), str | int | float | dict):
        problem = "an engine or an analyzer must not be a setting"
    try:
        settings = {} if problem else {name: _from_plain(value) for name, value in stated.items()}
    except InputError as error:
        problem = str(error).rstrip(".")
    if problem:
        msg = f"{directory.path / MANIFEST}: facts.settings: {problem}."
        raise FormatError(msg)
    return settings | {name: directory.array(ARRAY + name) for name in arrays}


def plain_setting(value: Any) -> Any:
    """Convert a setting to a JSON value, if possible."""
    if isinstance(value, InformedPrior):
        return {PRIOR: value.to_dict()}
    if isinstance(value, dict):
        return {key: plain_setting(part) for key, part in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _from_plain(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if PRIOR not in value:
        return {key: _from_plain(part) for key, part in value.items()}
    if problem := _PRIOR.problem(value[PRIOR], PRIOR):
        raise InputError(problem)
    return InformedPrior.from_dict(value[PRIOR])
