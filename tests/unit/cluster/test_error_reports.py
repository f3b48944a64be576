"""kproxy.cluster.error_reports: errors that no library retries are reported, as far as one can read them."""

from __future__ import annotations

from kproxy.cluster.error_reports import MAX_KINDS, REPORTED, ErrorReports
from kproxy.errors import ErrorClass
from kproxy.observe.events import ErrorAnswered
from kproxy.protocol.context import Context
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from tests.support.every import every
from tests.unit.relay.flows import Cluster

PRODUCE, DENIED = ApiKey.PRODUCE, ErrorCode.TOPIC_AUTHORIZATION_FAILED


class Listening(ErrorReports):
    """Reports into a list."""

    def __init__(self, *, listens: bool = True) -> None:
        self.reported: list[ErrorAnswered] = []
        super().__init__(lambda: listens, self.reported.append)

    def note(self, code: int, now: float = 0.0, api_key: int = PRODUCE) -> None:
        """As the relay does."""
        if self.wants(api_key, code, now):
            self.answered(client(), api_key, 9, code, "orders", None)


def client() -> Context:
    context = Context(Cluster(), 1, "10.1.2.3:5000", "10.9.8.7")
    context.id, context.opened = 7, 1000.5
    context.client_id, context.principal, context.software = "app" * 100, "User:carol", ("java", "4.1.0")
    return context


def test_who_got_which_error() -> None:
    """All fields of the event; texts of a client are cut."""
    reports = Listening()
    reports.answered(client(), ApiKey.OFFSET_FETCH, 9, 30, "orders", "billing")
    assert reports.reported == [
        ErrorAnswered(
            connection=7,
            since="1970-01-01T00:16:40.500Z",
            address="10.1.2.3",
            client_id=("app" * 100)[:256],
            software_name="java",
            software_version="4.1.0",
            principal="User:carol",
            api="OffsetFetch",
            api_version=9,
            error_code=30,
            error="GROUP_AUTHORIZATION_FAILED",
            error_class="invalid-configuration",
            topic="orders",
            group="billing",
            left_out=0,
        )
    ]


def test_of_a_client_that_has_said_nothing() -> None:
    """What is not known is null; a code that is not known has its number for a name."""
    reports = Listening()
    reports.answered(Context(Cluster(), 1, "unknown", ""), PRODUCE, 9, 31999, None, None)
    (one,) = reports.reported
    assert (one.address, one.client_id, one.software_name, one.software_version) == (None, None, None, None)
    assert (one.error, one.error_class, one.topic, one.group) == ("31999", "application-recoverable", None, None)


@every("code", list(ErrorCode))
def test_what_libraries_retry_is_not_reported(code: ErrorCode) -> None:
    """Of all others, each is: also 129, by which a client learns that its cluster is gone."""
    reports = Listening()
    reports.note(code)
    retried = code.error_class in (ErrorClass.RETRIABLE, ErrorClass.REFRESH_RETRIABLE)
    assert [one.error_code for one in reports.reported] == ([] if retried else [code])


def test_the_class_depends_on_the_api() -> None:
    """As that of 48, which is abortable from Produce."""
    reports = Listening()
    for key in (PRODUCE, ApiKey.END_TXN):
        reports.note(ErrorCode.INVALID_TXN_STATE, api_key=key)
    assert [one.error_class for one in reports.reported] == ["abortable", "application-recoverable"]


def test_nobody_listens() -> None:
    """Nothing is made, and nothing counts as left out."""
    reports = Listening(listens=False)
    for _ in range(2 * REPORTED):
        reports.note(DENIED)
    assert reports.reported == []


def test_so_many_a_second() -> None:
    """The next one of the same kind says how many were left out; one of another kind does not."""
    reports = Listening()
    for _ in range(REPORTED + 5):
        reports.note(DENIED, 7.3)
    reports.note(ErrorCode.INVALID_RECORD, 7.9)
    for _ in range(2):
        for code in (ErrorCode.INVALID_TOPIC_EXCEPTION, DENIED, ErrorCode.INVALID_RECORD):
            reports.note(code, 8.0)
    assert [(one.error_code, one.left_out) for one in reports.reported[:REPORTED]] == [(DENIED, 0)] * REPORTED
    assert [one.left_out for one in reports.reported[REPORTED:]] == [0, 5, 1, 0, 0, 0]


def test_kinds_that_are_remembered_have_a_limit() -> None:
    """A broker that invents codes does not fill the memory; those that were known before still count."""
    reports = Listening()
    for _ in range(REPORTED):
        reports.note(DENIED, 1.0)
    for code in (*range(1000, 1000 + 2 * MAX_KINDS), 1000):
        reports.note(code, 1.0)
    reports.note(1000, 2.0)
    reports.note(1000 + 2 * MAX_KINDS - 1, 2.0)
    assert [one.left_out for one in reports.reported[REPORTED:]] == [2, 0]
