"""A number of ours beside another's, and how we stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

EVEN = 0.005
"""Ratios that are nearer to one than this tell nothing."""
SPEEDS = ("s", "queries / s", "×")


@dataclass(frozen=True)
class Claim:
    """Two numbers side by side.

    what            what they are of, with the collection
    ours, theirs    the numbers; infinite is never
    peer            whose the other is
    unit            of both
    more_is_better  otherwise less is
    spread          least and largest ratio of runs side by side, where there are several
    others          cores that others kept busy meanwhile, where it is a matter of time
    """

    what: str
    ours: float
    theirs: float
    peer: str
    unit: str = "s"
    more_is_better: bool = False
    spread: Sequence[float] | None = None
    others: float = 0.0

    @property
    def ratio(self) -> float:
        """How many times better we are; below one the other is. A time that noise made negative gives none."""
        if min(self.ours, self.theirs) <= 0:
            return math.nan
        better, worse = (self.theirs, self.ours) if self.more_is_better else (self.ours, self.theirs)
        return 0.0 if math.isinf(better) else worse / better

    @property
    def is_speed(self) -> bool:
        """Whether it is a matter of time, not of quality or size."""
        return self.unit in SPEEDS

    @property
    def standing(self) -> str:
        """Ahead, even, behind or unclear: even is what repeats do not agree about, too."""
        if math.isnan(self.ratio):
            return "unclear"
        low, high = self.spread or (self.ratio, self.ratio)
        if abs(self.ratio - 1) < EVEN or low <= 1 <= high:
            return "even"
        return "ahead" if self.ratio > 1 else "behind"
