"""Settings of a model in its directory: plain ones and priors in the manifest, arrays in files of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from semascope.models.informed import InformedPrior
from semascope.storage import Directory, Draft

PRIOR = "InformedPrior"
ARRAY = "setting_"


def write_settings(draft: Draft, settings: dict[str, Any]) -> None:
    """Keep what can be kept; an engine, say, is not part of a model."""
    draft.facts["settings"] = {}
    for name, value in settings.items():
        plain = plain_setting(value)
        if value is None or isinstance(plain, bool | int | float | str | dict):
            draft.facts["settings"][name] = plain
        elif isinstance(value, np.ndarray | list | tuple) and np.asarray(value).dtype.kind in "fiu":
            draft.array(ARRAY + name, np.asarray(value))


def read_settings(directory: Directory) -> dict[str, Any]:
    """Give the settings that were kept."""
    settings = {name: _as_it_was(value) for name, value in directory.facts["settings"].items()}
    arrays = [file for file in directory.manifest.files if file.startswith(ARRAY)]
    for name in (file.removeprefix(ARRAY).removesuffix(".npy") for file in arrays):
        settings[name] = directory.array(ARRAY + name)
    return settings


def plain_setting(value: Any) -> Any:
    """Give a setting as JSON can hold it, if it can."""
    if isinstance(value, InformedPrior):
        return {PRIOR: value.to_dict()}
    if isinstance(value, dict):
        return {key: plain_setting(part) for key, part in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _as_it_was(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return InformedPrior.from_dict(value[PRIOR]) if PRIOR in value else {key: _as_it_was(part) for key, part in value.items()}
