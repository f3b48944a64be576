"""kproxy.upstream.servers: where a client that bootstraps is led."""

from __future__ import annotations

from kproxy.upstream.servers import BootstrapServers

A, B, C, NODE, LOST = (("a", 1), ("b", 1), ("c", 1), ("n", 1), ("lost", 1))


def test_turns() -> None:
    """Each server is the first in turn; the nodes come last, each address once."""
    servers = BootstrapServers([A, B, C])
    nodes = [(NODE, True), (A, False)]
    turns = [list(servers.in_turn(nodes)) for _ in range(4)]
    assert turns == [[B, C, A, NODE], [C, A, B, NODE], [A, B, C, NODE], [B, C, A, NODE]]


def test_who_did_not_answer_comes_last() -> None:
    """Behind the nodes, until it answers."""
    servers = BootstrapServers([A, B, C])
    servers.dialled(C, "no answer")
    servers.dialled(NODE, "not a server")
    assert dict(servers.silent) == {C: "no answer"}
    nodes = [(LOST, False), (NODE, None), (NODE, True)]
    assert [list(servers.in_turn(nodes)) for _ in range(2)] == [[B, A, NODE, C, LOST], [A, B, NODE, C, LOST]]
    servers.dialled(C, None)
    servers.dialled(NODE, None)
    assert list(servers.in_turn([])) == [A, B, C]


def test_a_server_that_is_named_twice() -> None:
    """It has one turn."""
    assert list(BootstrapServers([A, B, A]).in_turn(())) == [B, A]


def test_nobody_answers() -> None:
    """Then the servers take turns as ever: one of them may be back."""
    servers = BootstrapServers([A, B])
    for server in (A, B):
        servers.dialled(server, "no answer")
    assert [list(servers.in_turn(())) for _ in range(2)] == [[B, A], [A, B]]


def test_a_silent_server_that_is_a_node() -> None:
    """What its probe has shown before counts less; the nodes take turns, too."""
    servers = BootstrapServers([A])
    servers.dialled(A, "no answer")
    nodes = [(A, True), (B, True), (C, None)]
    assert [list(servers.in_turn(nodes)) for _ in range(2)] == [[C, B, A], [B, C, A]]
