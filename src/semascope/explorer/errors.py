"""What can be wrong with a request, each with the status that answers it. Messages are one sentence."""

from __future__ import annotations

from semascope.errors import SemascopeError


class RefusedError(SemascopeError):
    """A request that is not answered."""

    status = 400


class ForbiddenError(RefusedError):
    """Whoever asks may not."""

    status = 403


class NotFoundError(RefusedError):
    """There is no such thing."""

    status = 404


class ConflictError(RefusedError):
    """What is asked for does not go with this model."""

    status = 409


class UnavailableError(RefusedError):
    """There is no answer now, but there may be one later."""

    status = 503
