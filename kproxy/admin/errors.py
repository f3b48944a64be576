"""Why an order is not carried out."""

from __future__ import annotations

from kproxy.errors import ErrorClass, KproxyError


class OrderError(KproxyError):
    """An order that is not carried out; `str()` says why, fit for one line. Nothing has changed, unless it says so."""


class UnknownError(OrderError):
    """It names something that is not there."""


class RefusedError(OrderError):
    """Things are not as it needs them."""


class InvalidError(OrderError):
    """It cannot mean anything: a regex that is none, an interval out of bounds."""


class UnkeptError(OrderError):
    """It is carried out, but could not be kept: a restart will not know of it."""


class NotNowError(OrderError):
    """It comes too soon; after `seconds` it may be repeated."""

    error_class = ErrorClass.RETRIABLE

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds
