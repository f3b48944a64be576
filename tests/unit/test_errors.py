"""kproxy.errors: every code in its KIP-1050 class, and exceptions that say what they mean."""

from __future__ import annotations

import pytest

from kproxy.errors import ConfigError, ErrorClass, KproxyError, MalformedMessageError, UpstreamError, classify

TABLE = {
    ErrorClass.RETRIABLE: "2 7 14 19 20 41 51 70 71 75 78 88 89 106 122 123 133",
    ErrorClass.REFRESH_RETRIABLE: "3 5 6 9 13 15 16 56 72 74 80 83 84 100 103",
    ErrorClass.REBOOTSTRAP: "129",
    ErrorClass.ABORTABLE: "120",
    ErrorClass.APPLICATION_RECOVERABLE: "22 25 47 49 82 90",
    ErrorClass.INVALID_CONFIGURATION: "17 18 21 29 30 31 33 34 35 38 40 43 53 58 65 87",
    ErrorClass.IDEMPOTENCE: "45 59",
}
"""The table of the reference page on errors, as it stands there."""


@pytest.mark.parametrize(
    ("code", "expected"), [(int(code), of) for of, codes in TABLE.items() for code in codes.split()]
)
def test_each_code_has_one_class(code: int, expected: ErrorClass) -> None:
    """A code is of the class that the table gives it, whatever the API."""
    assert classify(code) is expected
    assert classify(code, api_key=0) is expected
    assert classify(code, api_key=26) is expected


def test_invalid_txn_state_depends_on_the_api() -> None:
    """48 is abortable from Produce and application-recoverable from everything else."""
    assert classify(48, api_key=0) is ErrorClass.ABORTABLE
    assert classify(48, api_key=26) is ErrorClass.APPLICATION_RECOVERABLE
    assert classify(48) is ErrorClass.APPLICATION_RECOVERABLE


@pytest.mark.parametrize("code", [-1, 1, 32767])
def test_unknown_codes_are_application_recoverable(code: int) -> None:
    """What nobody has classified makes an application start anew."""
    assert classify(code) is ErrorClass.APPLICATION_RECOVERABLE


def test_a_configuration_error_names_key_and_reason() -> None:
    """One line: the dotted key, then what is wrong with it."""
    error = ConfigError("clusters.0.listen", "the port is taken")
    assert (error.key, error.reason) == ("clusters.0.listen", "the port is taken")
    assert str(error) == "clusters.0.listen: the port is taken"


@pytest.mark.parametrize(
    ("exception", "expected"),
    [
        (KproxyError("x"), ErrorClass.APPLICATION_RECOVERABLE),
        (MalformedMessageError("x"), ErrorClass.APPLICATION_RECOVERABLE),
        (ConfigError("key", "x"), ErrorClass.INVALID_CONFIGURATION),
        (UpstreamError("x"), ErrorClass.RETRIABLE),
    ],
)
def test_own_exceptions_are_each_of_one_class(exception: KproxyError, expected: ErrorClass) -> None:
    """An exception says what a person is to do about it."""
    assert exception.error_class is expected
