# This module is pure (no I/O, no clock).
"""kproxy's own exceptions; most packages raise or catch them."""

from __future__ import annotations


class KproxyError(Exception):
    """The root of kproxy's own exceptions."""


class MalformedMessageError(KproxyError):
    """Bytes that are not the Kafka message they should be; `kproxy.wire` raises no other exception for any input."""


class UnsupportedApiError(KproxyError):
    """An api key or a version that kproxy does not serve."""


class ConfigError(KproxyError):
    """A setting that cannot be used: its key (dotted path) and the reason, fit for one line."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


class UpstreamError(KproxyError):
    """A broker cannot be reached, does not answer in time, or sends bytes that are not Kafka."""


class ShortageError(UpstreamError):
    """The system refused kproxy a descriptor or memory: that says nothing about the broker."""


class IdentityError(UpstreamError):
    """A broker refuses kproxy's identity, or kproxy cannot present it: that says nothing about the broker."""


class CommandError(KproxyError):
    """The running proxy did not carry out a request; `str()` gives the reason in one line.

    Nothing has changed, unless the subclass says so. The admin port maps each subclass to an HTTP status.
    """


class InvalidArgumentError(CommandError):
    """An argument is invalid, e.g. a malformed regex or an interval out of bounds (400)."""


class NotFoundError(CommandError):
    """The request names something that does not exist (404)."""


class ConflictError(CommandError):
    """The current state does not permit the request (409)."""


class RetryLaterError(CommandError):
    """The request comes too soon; it may be repeated after `seconds` (429)."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


class BackendError(CommandError):
    """The backend cluster, which had to be asked, does not answer or refuses (502)."""


class NotPersistedError(CommandError):
    """The request was carried out but could not be stored: a restart undoes it (500)."""


def bare_reason(error: Exception) -> str:
    """Return why it failed, without the error number and the file's name that `str()` of an OSError has."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
