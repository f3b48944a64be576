"""Who has authenticated, and who was refused: counted always, reported as far as one can read it."""

from __future__ import annotations

from kproxy.cluster.audit import REPORTED, Audit
from kproxy.observe.events import AuthenticationResult
from kproxy.protocol.context import Context
from tests.unit.relay.flows import Cluster


def test_every_authentication_is_reported() -> None:
    """With the principal, and how."""
    counts: dict[tuple[str, str], int] = {}
    reported: list[AuthenticationResult] = []
    audit = Audit(counts, reported.append)
    context = Context(Cluster(), None, "client:1", "10.9.8.7")
    context.principal, context.client_id = "User:carol", "app"
    for _ in range(3 * REPORTED):
        audit.accepted(context, "PLAIN")
    assert reported == [AuthenticationResult(context.host, "app", "User:carol", "PLAIN", None, 0)] * (3 * REPORTED)
    assert counts == {("PLAIN", "accepted"): 3 * REPORTED}


def test_of_refusals_so_many_a_second() -> None:
    """The next one that is reported says how many were left out; all count, also before a mechanism was chosen."""
    counts: dict[tuple[str, str], int] = {}
    reported: list[AuthenticationResult] = []
    audit = Audit(counts, reported.append)
    context = Context(Cluster(), None, "client:1", "10.9.8.7")
    context.principal = "User:carol"
    for _ in range(REPORTED + 5):
        audit.refused(context, "", "why", 7.3)
    audit.refused(context, "PLAIN", "why", 8.0)
    assert len(reported) == REPORTED + 1
    assert {(one.principal, one.mechanism, one.left_out) for one in reported[:-1]} == {(None, None, 0)}
    assert (reported[-1].mechanism, reported[-1].refused, reported[-1].left_out) == ("PLAIN", "why", 5)
    assert counts == {("unknown", "refused"): REPORTED + 5, ("PLAIN", "refused"): 1}
