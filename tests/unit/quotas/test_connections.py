"""kproxy.quotas.connections: each principal has as many connections as it may, and no more."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.quotas.connections import PrincipalConnections, policies
from kproxy.wire.generated.api_keys import ApiKey
from tests.unit.relay.flows import LOCAL_HOST, Cluster


def connection(principal: str | None) -> Context:
    """A connection of a principal."""
    context = Context(Cluster(), None, "client:1", LOCAL_HOST)
    context.principal = principal
    return context


def test_one_too_many_is_refused() -> None:
    """Until one has ended; others are not concerned, nor are those who have not authenticated."""
    connections = PrincipalConnections(2)
    first, second = connection("User:alice"), connection("User:alice")
    connections.note(first)
    connections.note(second)
    with pytest.raises(Fault, match=r"User:alice has 2 connections, the most") as refused:
        connections.note(connection("User:alice"))
    assert (refused.value.reason, refused.value.api_key) == (Reason.PRINCIPAL_LIMIT, 36)
    connections.note(connection("User:bob"))
    for _ in range(3):
        connections.note(connection(None))
    first.end()
    connections.note(connection("User:alice"))


def test_who_authenticates_again_counts_once() -> None:
    """As clients do before their session ends (KIP-368)."""
    connections, only = PrincipalConnections(1), connection("User:alice")
    for _ in range(3):
        connections.note(only)
    with pytest.raises(Fault):
        connections.note(connection("User:alice"))


def test_a_limit_that_comes_goes_and_changes() -> None:
    """A lower one ends nobody; those who came while there was none are not known."""
    connections = PrincipalConnections(None)
    assert (bool(connections), policies(connections)) == (False, {})
    for _ in range(3):
        connections.note(connection("User:alice"))
    connections.most = 2
    assert set(policies(connections)) == {36}
    held = [connection("User:alice") for _ in range(2)]
    for one in held:
        connections.note(one)
    connections.most = 1
    connections.note(held[0])
    with pytest.raises(Fault):
        connections.note(connection("User:alice"))


def test_the_brokers_answer_passes_or_ends_the_connection() -> None:
    """It is not changed, and counted once the principal is known."""
    connections = PrincipalConnections(1)
    cluster = Cluster()
    route = ApiTable(cluster.counters, policies(connections)).route(ApiKey.SASL_AUTHENTICATE << 16)
    assert route.respond(connection("User:alice"), memoryview(b"")) is None
    with pytest.raises(Fault):
        route.respond(connection("User:alice"), memoryview(b""))


def test_memory_is_bounded() -> None:
    """Principals without connections are forgotten; those with one are kept."""
    connections, kept = PrincipalConnections(1), connection("User:kept")
    connections.note(kept)
    for number in range(10_000):
        one = connection(f"User:{number}")
        connections.note(one)
        one.end()
    assert len(connections) <= 65
    with pytest.raises(Fault):
        connections.note(connection("User:kept"))
