"""kproxy.upstream.responses: an error code becomes an exception of its class, which says all that is known of it."""

from __future__ import annotations

import pytest

from kproxy.errors import (
    ApplicationRecoverableError,
    ErrorClass,
    InvalidConfigurationError,
    RefreshRetriableError,
    RefusedError,
    RetriableError,
    TransactionAbortableError,
    UpstreamError,
)
from kproxy.errors.refused import OF_CLASS
from kproxy.upstream.responses import check, refused
from kproxy.wire.error_codes import ERROR_CODES, classify


@pytest.mark.parametrize(
    ("api", "code", "kind"),
    [
        ("Fetch", 7, RetriableError),
        ("Fetch", 6, RefreshRetriableError),
        ("Metadata", 129, RefreshRetriableError),
        ("EndTxn", 120, TransactionAbortableError),
        ("Produce", 48, TransactionAbortableError),
        ("EndTxn", 48, ApplicationRecoverableError),
        ("LeaveGroup", 25, ApplicationRecoverableError),
        ("Produce", 45, ApplicationRecoverableError),
        ("Produce", 2000, ApplicationRecoverableError),
        ("Produce", 29, InvalidConfigurationError),
    ],
)
def test_kinds(api: str, code: int, kind: type[RefusedError]) -> None:
    """One exception for each thing to do; only 48 depends on the API, and unknown codes begin anew."""
    assert type(refused(api, code)) is kind


def test_every_code_has_one() -> None:
    """Whatever its class; refresh-retriable is a kind of retriable, and all are errors of an upstream."""
    assert set(OF_CLASS) == set(ErrorClass)
    for code in ERROR_CODES:
        assert type(refused("Fetch", code)) is OF_CLASS[classify(code)]
    assert issubclass(RefreshRetriableError, RetriableError)
    assert all(issubclass(kind, UpstreamError) for kind in OF_CLASS.values())


def test_what_it_says() -> None:
    """The code, Kafka's name, the API, what was asked about, and what the broker says."""
    with pytest.raises(RefreshRetriableError) as caught:
        check("LeaveGroup", 16, asked="group g", said="it has moved")
    error = caught.value
    assert (error.api, error.code, error.name, error.asked) == ("LeaveGroup", 16, "NOT_COORDINATOR", "group g")
    assert str(error) == "group g: the broker answers LeaveGroup with NOT_COORDINATOR; it has moved"
    assert str(refused("Fetch", 2000)) == "the broker answers Fetch with 2000"


def test_no_error() -> None:
    """NONE raises nothing."""
    check("Fetch", 0)
