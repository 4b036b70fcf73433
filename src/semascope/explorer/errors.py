"""Errors of requests with their HTTP statuses. Messages are one sentence."""

from __future__ import annotations

from semascope.errors import SemascopeError


class RefusedError(SemascopeError):
    """Bad request."""

    status = 400


class ForbiddenError(RefusedError):
    """Forbidden."""

    status = 403


class NotFoundError(RefusedError):
    """Not found."""

    status = 404


class ConflictError(RefusedError):
    """Request that this model does not support."""

    status = 409


class UnavailableError(RefusedError):
    """Service temporarily unavailable."""

    status = 503
