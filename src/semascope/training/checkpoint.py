"""Checkpoints: an interrupted and resumed run yields the same bits as an uninterrupted one."""

from __future__ import annotations

import hashlib
import shutil
import time
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semascope.engines.base import Session
from semascope.engines.shard_store import local_name
from semascope.errors import FormatError, InputError
from semascope.storage import Draft, Layout, is_directory_of, open_directory
from semascope.storage.facts import HISTORY, ListOf, Number, Record, Text
from semascope.storage.layout import Fixed

KIND = Layout("checkpoint", 1, facts=Record({"identity": Record()}))
"""Facts common to all checkpoints."""


def layout_of(algorithm: Any) -> Layout:
    """Return the layout of an algorithm's checkpoints."""
    arrays = {f"state-{name}": array for name, array in algorithm.state_arrays.items()}
    arrays |= {local_name(name, "*"): array for name, array in algorithm.local_arrays.items()}
    facts = Record(
        {
            "identity": Record(), "history": HISTORY, "numbers": Record(algorithm.state_numbers),
            "locals": ListOf(Text(tuple(algorithm.local_arrays)), distinct=True),
        },
        {"seconds": Number(0), "notes": Record(others=ListOf(HISTORY))},
    )  # fmt: skip
    sizes = {name: Fixed(n) for name, n in algorithm.sizes().items()}
    return Layout(KIND.kind, KIND.version, facts, sizes, arrays)


@dataclass
class Checkpoints:
    """Saves a run periodically, and resumes it.

    Parameters
    ----------
    directory : path
            Directory of the last checkpoint. A crash during writing leaves the previous one intact.
        seconds : float, default=60
            Time between checkpoints.
        resume : bool, default=False
            Resume from the checkpoint in `directory`.
        identity : dict
            Settings of the run. A checkpoint of a run with other settings is refused.
        notes : dict of lists
            Records made by callbacks: saved with the run, and restored when it is resumed.

    Examples
    --------
    >>> import tempfile
    >>> from semascope import PLSA
    >>> texts = ["cats purr", "dogs bark", "cats", "dogs"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoints = Checkpoints(Path(folder) / "unfinished", seconds=0)
    ...     cut_off = PLSA(2, random_state=0, max_iter=5, tol=0).fit(texts, checkpoints=checkpoints)
    ...     resuming = Checkpoints(checkpoints.directory, resume=True)
    ...     resumed = PLSA(2, random_state=0, max_iter=9, tol=0).fit(texts, checkpoints=resuming)
    >>> cut_off.n_iter_, resumed.n_iter_
    (5, 9)
    """

    directory: Path
    seconds: float = 60.0
    resume: bool = False
    identity: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, list[Any]] = field(default_factory=dict)
    _last: float = field(default_factory=time.monotonic, init=False, repr=False)

    def __post_init__(self) -> None:
        self.directory = Path(self.directory)

    def due(self) -> bool:
        """Return whether a checkpoint is due."""
        return time.monotonic() - self._last >= self.seconds

    def save(self, placed: Session, algorithm: Any, state: Any, history: list[float], seconds: float) -> None:
        """Write a checkpoint, replacing the last one."""
        fields = state._asdict()
        arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}

        def fill(draft: Draft) -> None:
            for name, array in arrays.items():
                draft.array(f"state-{name}", array)
            numbers = {name: value for name, value in fields.items() if name not in arrays}
            draft.facts.update(identity=self.identity, history=history, numbers=numbers, seconds=seconds, notes=self.notes)

        placed.save(self.directory, layout_of(algorithm), fill)
        self._last = time.monotonic()

    def load(self, placed: Session, algorithm: Any) -> tuple[Any, list[float], float]:
        """Read the last checkpoint: return its state, history and seconds, and restore the locals."""
        saved = open_directory(self.directory, KIND).facts["identity"]
        for name, wanted in self.identity.items():
            if saved.get(name) != wanted:
                msg = (
                    f"{self.directory}: cannot resume: the checkpoint is of a run with {name} = {saved.get(name)}, "
                    f"but this run has {name} = {wanted}."
                )
                raise InputError(msg)
        directory = open_directory(self.directory, layout_of(algorithm))
        placed.load_locals(directory, algorithm.local_problem)
        for name, records in directory.facts.get("notes", {}).items():
            self.notes.setdefault(name, [])[:] = records
        numbers = {name: directory.facts["numbers"][name] for name in algorithm.state_numbers}
        arrays = {name: np.array(directory.array(f"state-{name}")) for name in algorithm.state_arrays}
        state = algorithm.state_type(**arrays, **numbers)
        if problem := algorithm.state_problem(state, directory.facts["history"]):
            msg = f"{self.directory}: the arrays of the checkpoint are inconsistent: {problem}."
            raise FormatError(msg)
        seconds = float(directory.facts.get("seconds", 0.0))  # missing in older versions
        return state, list(directory.facts["history"]), seconds

    def exists(self) -> bool:
        """Return whether there is a checkpoint."""
        return is_directory_of(self.directory) == KIND.kind

    def discard(self) -> None:
        """Remove the checkpoint of a finished run."""
        if self.exists():
            shutil.rmtree(self.directory, ignore_errors=True)


def identity_of(algorithm: Any) -> dict[str, Any]:
    """Return the settings of an algorithm as JSON values: arrays become hashes."""
    return {part.name: plain(getattr(algorithm, part.name)) for part in fields(algorithm)}


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return hashlib.blake2b(value.tobytes(), digest_size=16).hexdigest()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return identity_of(value) if is_dataclass(value) else value
