"""Which clients are not let in: reported as far as one can read it."""

from __future__ import annotations

import pytest

from kproxy.cluster.refusals import REPORTED, Refusals
from kproxy.observe.events import AdmissionRefused
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context
from tests.unit.relay.flows import Cluster


def _context() -> Context:
    return Context(Cluster(), 7, "10.1.2.3:4567", "10.9.8.7")


def test_a_client_that_is_not_let_in() -> None:
    """The event says who it was, whom it came to, and why it was not let in."""
    reported: list[AdmissionRefused] = []
    Refusals(reported.append).ended(_context(), Reason.TLS_ON_PLAINTEXT, "", 1.0)
    assert reported == [AdmissionRefused("10.1.2.3", 7, None, "tls_on_plaintext", None, 0)]


def test_of_each_reason_so_many_a_second() -> None:
    """A flood at one limit hides no client that another reason keeps out; the next one says how many were left out."""
    reported: list[AdmissionRefused] = []
    refusals = Refusals(reported.append)
    for _ in range(REPORTED + 30):
        refusals.ended(_context(), Reason.ADDRESS_RATE, "more than 50 a second", 7.3)
    refusals.ended(_context(), Reason.TLS_FAILED, "unknown ca", 7.4)
    refusals.ended(_context(), Reason.ADDRESS_RATE, "more than 50 a second", 8.0)
    assert [(each.reason, each.left_out) for each in reported] == [
        *[("address_rate", 0)] * REPORTED,
        ("tls_failed", 0),
        ("address_rate", 30),
    ]
    assert reported[-1].detail == "more than 50 a second"


@pytest.mark.parametrize(
    "reason", [Reason.CLIENT_CLOSED, Reason.IDLE_TIMEOUT, Reason.DRAINED, Reason.AUTHENTICATION_FAILED]
)
def test_ends_that_are_no_refusals(reason: Reason) -> None:
    """Health checks, clients that are to connect again, and those of which another event tells."""
    reported: list[AdmissionRefused] = []
    Refusals(reported.append).ended(_context(), reason, "", 1.0)
    assert reported == []
