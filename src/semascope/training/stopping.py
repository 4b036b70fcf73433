"""Stopping rules."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

SETTLED = "settled"
"""Name of convergence in 0.1."""


class StopReason(str):
    """Reason why a fit ended. Convergence was called "settled" in 0.1: comparing with that still works, with a warning."""

    __slots__ = ()

    @classmethod
    def of(cls, reason: str) -> StopReason:
        """Return the current name of a reason."""
        return cls("converged" if str.__eq__(reason, SETTLED) is True else reason)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and str.__eq__(other, SETTLED) is True:
            warnings.warn('stopped_by_ is "converged" where it was "settled"', DeprecationWarning, stacklevel=2)
            return str.__eq__(self, "converged")
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


CONVERGED = StopReason("converged")
INTERRUPTED = "interrupted"
ITERATIONS = "iterations"
TIME = "time"


@dataclass(frozen=True)
class StopRule:
    """Stop when the objective has converged, or after a number of iterations or seconds.

    Parameters
    ----------
    max_iter : int
        Maximum number of iterations.
    tol : float
        The objective has converged when an iteration changes it by less than this fraction of itself.
    max_seconds : float, optional
        Maximum number of seconds; the iteration in progress is finished.
    """

    max_iter: int
    tol: float
    max_seconds: float | None = None

    def __call__(self, history: Sequence[float], seconds: float) -> str | None:
        """Return the reason to stop; None to continue."""
        if len(history) >= self.max_iter:
            return ITERATIONS
        if len(history) >= 2 and abs(history[-1] - history[-2]) < self.tol * abs(history[-2]):
            return CONVERGED
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return TIME
        return None


class CtrlC:
    """Context in which the first Ctrl-C stops the loop after the iteration in progress; the second one interrupts at once.

    Signals reach the main thread only; elsewhere this does nothing.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._previous: Any = None

    def __enter__(self) -> CtrlC:
        ours_to_catch = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if threading.current_thread() is threading.main_thread() and ours_to_catch:
            self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True
