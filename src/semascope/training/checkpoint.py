"""Checkpoints: a run that was killed and resumed gives the same bits as one that was not."""

from __future__ import annotations

import hashlib
import shutil
import time
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semascope.engines.base import Placed
from semascope.errors import InputError
from semascope.storage import Draft, is_directory_of, open_directory

FORMAT = "checkpoint"
VERSION = 1


@dataclass
class Checkpoints:
    """Saves a run now and then, and takes it up again.

    Parameters
    ----------
    directory : path
        Where the last checkpoint lies. A crash while one is written leaves the one before.
    seconds : float, default=60
        Time between checkpoints.
    resume : bool, default=False
        Go on from the checkpoint in `directory`.
    identity : dict
        What the run is about. A checkpoint of anything else is refused.
    notes : dict of lists
        What was noted on the way: saved with the run, and filled again when it is taken up.

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
        """Tell whether it is time."""
        return time.monotonic() - self._last >= self.seconds

    def save(self, placed: Placed, state: Any, history: list[float], seconds: float) -> None:
        """Write a checkpoint in place of the last one."""
        fields = state._asdict()
        arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}

        def fill(draft: Draft) -> None:
            for name, array in arrays.items():
                draft.array(f"state-{name}", array)
            numbers = {name: value for name, value in fields.items() if name not in arrays}
            draft.facts.update(identity=self.identity, history=history, numbers=numbers, seconds=seconds, notes=self.notes)

        placed.save(self.directory, FORMAT, VERSION, fill)
        self._last = time.monotonic()

    def load(self, placed: Placed, state_type: Any) -> tuple[Any, list[float], float]:
        """Take up the last checkpoint: give its state, history and seconds, and put the locals back in place."""
        directory = open_directory(self.directory, FORMAT, VERSION)
        found = directory.facts["identity"]
        for name, wanted in self.identity.items():
            if found.get(name) != wanted:
                msg = (
                    f"{self.directory}: cannot resume: the checkpoint is of a run with {name} = {found.get(name)}, "
                    f"but this run has {name} = {wanted}."
                )
                raise InputError(msg)
        placed.load_locals(directory)
        for name, noted in directory.facts.get("notes", {}).items():
            self.notes.setdefault(name, [])[:] = noted
        numbers = directory.facts["numbers"]
        arrays = {n: np.array(directory.array(f"state-{n}")) for n in state_type._fields if n not in numbers}
        seconds = float(directory.facts.get("seconds", 0.0))  # older versions did not note them
        return state_type(**arrays, **numbers), list(directory.facts["history"]), seconds

    def exists(self) -> bool:
        """Tell whether there is a checkpoint."""
        return is_directory_of(self.directory) == FORMAT

    def discard(self) -> None:
        """Remove the checkpoint: the run is finished and safe elsewhere."""
        if self.exists():
            shutil.rmtree(self.directory, ignore_errors=True)


def identity_of(algorithm: Any) -> dict[str, Any]:
    """The settings of an algorithm as JSON can hold them: of an array, its hash."""
    return {part.name: plain(getattr(algorithm, part.name)) for part in fields(algorithm)}


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return hashlib.blake2b(value.tobytes(), digest_size=16).hexdigest()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return identity_of(value) if is_dataclass(value) else value
