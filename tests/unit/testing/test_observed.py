"""kproxy.testing.observed: what kproxy says in its metrics and its log."""

from __future__ import annotations

from kproxy.errors import ErrorClass
from kproxy.testing.observed import ResponseError, address, readable, requests, response_errors, since

PAGE = """\
# HELP kproxy_response_errors_total Error codes that responses carried.
# TYPE kproxy_response_errors_total counter
kproxy_response_errors_total{api="Fetch",cluster="kafka",error="NOT_LEADER_OR_FOLLOWER",error_class="refresh-retriable",version="17"} 2.0
kproxy_response_errors_total{api="Fetch",cluster="kafka",error="NOT_LEADER_OR_FOLLOWER",error_class="refresh-retriable",version="16"} 1.0
kproxy_response_errors_total{api="EndTxn",cluster="kafka",error="TRANSACTION_ABORTABLE",error_class="abortable",version="5"} 1.0
kproxy_requests_total{api="Fetch",cluster="kafka",version="17"} 7.0
kproxy_requests_total{api="Fetch",cluster="kafka",version="16"} 1.0
kproxy_up 1.0
"""  # noqa: E501 - a page of Prometheus has long lines


def test_errors_are_summed_over_versions() -> None:
    """By API, error and class."""
    assert response_errors(PAGE) == {
        ("Fetch", "NOT_LEADER_OR_FOLLOWER", "refresh-retriable"): 3,
        ("EndTxn", "TRANSACTION_ABORTABLE", "abortable"): 1,
    }


def test_requests_are_summed_over_versions() -> None:
    """By API."""
    assert requests(PAGE) == {("Fetch",): 8}


def test_since() -> None:
    """What was there before is taken off, and what has not changed is left out."""
    now = response_errors(PAGE)
    before = {**now, ("Fetch", "NOT_LEADER_OR_FOLLOWER", "refresh-retriable"): 1}
    assert since(before, now) == [
        ResponseError("Fetch", "NOT_LEADER_OR_FOLLOWER", ErrorClass.REFRESH_RETRIABLE, 2),
    ]


LOG = """\
Traceback of the interpreter
"a text"
{"event":"listening","cluster":"kafka","level":"info"}
{"event":"listening","address":"127.0.0.1:5","level":"info","timestamp":"2026"}
{"event":"listening","address":"127.0.0.1:6"}
"""


def test_address() -> None:
    """The first line of the event that has one; None before there is one."""
    assert address(LOG, "listening") == "127.0.0.1:5"
    assert address(LOG, "admin port is open") is None


def test_readable() -> None:
    """Time, level and event come first; what is no JSON object stays as it is."""
    assert readable(LOG).splitlines() == [
        "Traceback of the interpreter",
        '"a text"',
        "info listening cluster=kafka",
        "2026 info listening address=127.0.0.1:5",
        "listening address=127.0.0.1:6",
    ]
