"""What all routes work with: the model at hand, and threads to work on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from semascope.explorer.keeping import Keeper
from semascope.explorer.overview import Overview
from semascope.explorer.pool import Pool

if TYPE_CHECKING:
    from semascope.explorer.learning import Learner
    from semascope.explorer.state import Explored

T = TypeVar("T")


@dataclass(frozen=True)
class Service:
    """What routes work with.

    keeper    the model on disk
    learner   learns from what is posted, if that is allowed; the model is then the one that it learns
    pool      threads
    """

    keeper: Keeper
    learner: Learner | None = None
    pool: Pool = field(default_factory=Pool)

    @property
    def worker(self) -> Keeper | Learner:
        """Who has the model at hand."""
        return self.keeper if self.learner is None else self.learner

    async def explored(self) -> Explored:
        """The model as it is now, with all that is shown with it."""
        return await self.worker.explored()

    async def overview(self) -> Overview:
        """What is seen first."""
        found = await self.worker.overview()
        return found if isinstance(found, Overview) else await self.pool.run(lambda: found.overview)

    async def answer(self, make: Callable[..., T], *given: Any) -> T:
        """Work out an answer from the model as it is now, on a thread."""
        return await self.pool.run(make, await self.explored(), *given)
