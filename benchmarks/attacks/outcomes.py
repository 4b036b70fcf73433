"""What comes of a case: every step is tried, and what goes wrong is told apart."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from semascope.errors import FormatError, SemascopeError

T = TypeVar("T")

REFUSED, UNNAMED, ACCEPTED = "refused", "refused, unnamed", "accepted"
TRACEBACK, DIFFERENT, SIGNAL, HANG, FOREIGN, VAGUE = "traceback", "different", "signal", "hang", "foreign write", "vague"
FAILURES = (SIGNAL, HANG, FOREIGN, TRACEBACK, DIFFERENT, VAGUE)
"""Worst first. Vague is a refusal of more than one line, or one of a format that names no file."""
KINDS = (*FAILURES, REFUSED, UNNAMED, ACCEPTED)


class NotComparableError(Exception):
    """There is nothing to compare with; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    kind     one of `KINDS`
    step     where it happened
    detail   what was said, or the end of the traceback
    equal    comparisons with the twins that agreed
    unlike   comparisons that could not be made
    """

    kind: str
    step: str = ""
    detail: str = ""
    equal: int = 0
    unlike: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def failed(self) -> bool:
        """Whether this must not happen."""
        return self.kind in FAILURES


@dataclass
class Attempts:
    """Tries steps one after the other; a step that fails gives None."""

    path: Path
    has_twin: bool = True
    notes: list[Outcome] = field(default_factory=list)
    equal: int = 0
    unlike: int = 0

    def __call__(self, step: str, function: Callable[[], T]) -> T | None:
        """Try a step."""
        try:
            return function()
        except SemascopeError as error:
            self.notes.append(self._refusal(step, error, str(error)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # polars panics with one that is no Exception
            self.notes.append(Outcome(TRACEBACK, step, told(error)))
        return None

    def _refusal(self, step: str, error: BaseException, said: str) -> Outcome:
        named = self.path.name in said or str(self.path.parent) in said
        if "\n" in said.strip() or not said.strip() or (isinstance(error, FormatError) and not named):
            return Outcome(VAGUE, step, f"{type(error).__name__}: {said}"[:400])
        return Outcome(REFUSED if named else UNNAMED, step, said[:300])

    def refused(self, step: str, said: str) -> None:
        """Note what a command has said when it ended; one sentence of its own is a refusal."""
        sentences = [line for line in said.splitlines() if line.startswith("semascope: ")]
        self.notes.append(self._refusal(step, SemascopeError(), sentences[0] if len(sentences) == 1 else f"\n{said}\n\n."))

    def compare(self, step: str, function: Callable[[], str | None]) -> None:
        """Compare with a twin, which says what differs; a twin that fails cannot make sense of what was accepted."""
        try:
            if not self.has_twin:
                raise NotComparableError("the twins know one way to make words of texts")
            difference = function()
        except (NotComparableError, SemascopeError):
            self.unlike += 1
            return
        except Exception as error:
            if any(note.kind in (REFUSED, UNNAMED) for note in self.notes):  # and rightly
                self.unlike += 1
                return
            difference = f"the twin fails: {told(error)}"
        if difference:
            self.notes.append(Outcome(DIFFERENT, step, difference[:400]))
        else:
            self.equal += 1

    def outcome(self) -> Outcome:
        """Return the worst of what was noted."""
        worst = min(self.notes, key=lambda note: KINDS.index(note.kind), default=Outcome(ACCEPTED))
        return Outcome(worst.kind, worst.step, worst.detail, self.equal, self.unlike)


def told(error: BaseException) -> str:
    """Tell the type of an error, what it says, and where in the package it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "semascope" in frame.filename.split("/")] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}" if ours else "?"
    said = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__} at {place}: {said[0][:200]}"
