"""kproxy.wire.error_codes: every code has the name of an independent list, and its KIP-1050 class."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode as KioErrorCode

from kproxy.errors import ErrorClass
from kproxy.wire.error_codes import classify, error_name
from kproxy.wire.generated.error_codes import ErrorCode
from tests.support.every import every

TABLE = {
    ErrorClass.RETRIABLE: "2 7 14 19 20 41 51 70 71 75 78 88 89 106 122 123 133",
    ErrorClass.REFRESH_RETRIABLE: "3 5 6 9 13 15 16 56 72 74 80 83 84 100 103",
    ErrorClass.REBOOTSTRAP: "129",
    ErrorClass.ABORTABLE: "120",
    ErrorClass.APPLICATION_RECOVERABLE: "22 25 47 49 82 90",
    ErrorClass.INVALID_CONFIGURATION: "17 18 21 29 30 31 33 34 35 38 40 43 53 58 65 87",
    ErrorClass.IDEMPOTENCE: "45 59",
}
"""The table of the reference page on errors, word for word."""


@every(("code", "expected"), [(int(code), of) for of, codes in TABLE.items() for code in codes.split()])
def test_each_code_has_one_class(code: int, expected: ErrorClass) -> None:
    """A code has the class in the table, for every API."""
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
    """An unclassified error makes an application recover by a new start."""
    assert classify(code) is ErrorClass.APPLICATION_RECOVERABLE


def test_names_are_kafkas() -> None:
    """Every code that kio knows has the same name here."""
    assert {error.value: error.name.upper() for error in KioErrorCode}.items() <= {
        error.value: error.name for error in ErrorCode
    }.items()


def test_codes_have_no_gap() -> None:
    """Kafka's codes have no gaps from -1 up; two names with one code would be one member."""
    assert [error.value for error in ErrorCode] == list(range(-1, len(ErrorCode) - 1))
    assert len(ErrorCode.__members__) == len(ErrorCode)


def test_a_code_that_is_not_known_is_its_number() -> None:
    """A newer broker may send such a code."""
    assert [error_name(code) for code in (6, -1, 32767, -2)] == [
        "NOT_LEADER_OR_FOLLOWER",
        "UNKNOWN_SERVER_ERROR",
        "32767",
        "-2",
    ]


def test_what_clients_retry_is_of_a_retriable_class() -> None:
    """The KIP's two classes are what Java's clients retry; on 129 they rebootstrap first."""
    classes = {ErrorClass.RETRIABLE, ErrorClass.REFRESH_RETRIABLE}
    assert [error.name for error in ErrorCode if error.retriable != (error.error_class in classes)] == []
