"""A name server, or a bootstrap server, that does not answer: where there is another way it is taken, at once.

kproxy may take a minute to connect here (`timeouts.connect`): what is over before has not waited for what is silent.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.backend import Backend
from tests.support.link import Link
from tests.support.named_hosts import SILENCE, named_hosts
from tests.support.proxy import HOST, Proxy
from tests.support.raw import RawClient, api_versions, metadata
from tests.support.wait import until

CLIENTS: Final = 100
"""As many as had the clients of another virtual cluster wait, when all lookups shared Trio's threads."""
TIMEOUTS: Final = {"connect": "60s"}
TOPOLOGY: Final = {"interval": "1s"}


@pytest.fixture
def silence(tmp_path: Path) -> Path:
    """Return the file that silences the name server while it exists."""
    return tmp_path / SILENCE


@contextmanager
def in_front(directory: Path, servers: dict[str, str]) -> Iterator[Proxy]:
    """Yield a kproxy that resolves names as `named_hosts` says, once it serves: not all of it need be reachable."""
    with named_hosts(directory), Proxy(directory, servers, timeouts=TIMEOUTS, topology=TOPOLOGY) as proxy:
        yield proxy


def ended(clients: list[RawClient]) -> bool:
    """Return whether one of them was answered or closed."""
    return bool(select.select([client.socket for client in clients], (), (), 0)[0])


def exchange(port: int) -> None:
    """Have a client come, and be told of the brokers."""
    with RawClient(port) as client:
        client.ask(api_versions(1))
        client.ask(metadata(2))


def strictly(proxy: Proxy) -> dict[str, Any]:
    """Return what /readyz says in full."""
    said: dict[str, Any] = proxy.get_json("/readyz?strict")
    return said


def reasons(said: dict[str, Any], kind: str) -> list[str]:
    """Return the reasons of /readyz, or its warnings."""
    return [each["reason"] for each in said.get(kind, ())]


def test_a_name_that_was_never_answered(kafka: Backend, newest_kafka: Backend, silence: Path, tmp_path: Path) -> None:
    """A hundred clients wait for it; those of another virtual cluster come and go, and the admin port answers."""
    silence.touch()
    lost = newest_kafka.cluster.bootstrap.replace(HOST, "kafka.silent.example.com")
    well = kafka.cluster.bootstrap.replace(HOST, "kafka.example.com")
    with in_front(tmp_path, {"well": well, "lost": lost}) as proxy, ExitStack() as stack:
        waiting = [stack.enter_context(RawClient(proxy.port("lost"))) for _ in range(CLIENTS)]
        for client in waiting:
            client.send(api_versions(1))
        for _ in range(5):
            exchange(proxy.port("well"))
        said = strictly(proxy)
        assert {each["cluster"] for each in said["reasons"]} <= {"lost"}
        assert proxy.metric("kproxy_upstream_reachable", cluster="well") == 4  # its nodes, and its bootstrap servers
        assert not ended(waiting)
        silence.unlink()
        for client in waiting:
            client.receive()


def test_a_name_that_was_answered_before(newest_kafka: Backend, silence: Path, tmp_path: Path) -> None:
    """Clients are led where it led last. /readyz and the log say so, and that it is over."""
    server = newest_kafka.cluster.bootstrap.replace(HOST, "kafka.silent.example.com")
    with in_front(tmp_path, {"kafka": server}) as proxy:
        silence.touch()
        until(lambda: proxy.logged(event="no name server answers: going on where the name led last"), "the log's line")
        for _ in range(5):
            exchange(proxy.port())
        said = strictly(proxy)
        assert (said["state"], said["reasons"]) == ("ready", [])
        (warning,) = reasons(said, "warnings")
        assert warning.startswith("no name server answers for kafka.silent.example.com")
        silence.unlink()
        until(lambda: not reasons(strictly(proxy), "warnings"), "an answer")
        assert proxy.logged(event="a name server answers again")


def test_a_bootstrap_server_that_drops_packets(kafka: Backend, tmp_path: Path) -> None:
    """One client in all waits for it, for a second. /readyz names it. Once it answers, it has its turn again."""
    first, *others = kafka.cluster.bootstrap.split(",")
    with socket.socket() as listener, ExitStack() as stack:
        listener.bind((HOST, 0))
        listener.listen(0)
        silent = f"{HOST}:{listener.getsockname()[1]}"
        for _ in range(4):  # its backlog is full now
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        with Proxy(tmp_path, {"kafka": ",".join((silent, *others))}, timeouts=TIMEOUTS, topology=TOPOLOGY) as proxy:
            for _ in range(12):
                exchange(proxy.port())
            failed = proxy.metric("kproxy_upstream_connect_failures_total", node="bootstrap")
            assert failed <= 1
            said = until(lambda: strictly(proxy) if reasons(strictly(proxy), "warnings") else None, "a warning")
            assert (said["state"], said["reasons"]) == ("ready", [])
            (warning,) = reasons(said, "warnings")
            assert warning.startswith(f"the bootstrap server {silent} does not answer: ")
            host, _, port = first.rpartition(":")
            link = Link(listener, (host, int(port)))
            stack.callback(link.close)
            until(lambda: not reasons(strictly(proxy), "warnings"), "its return")
            for _ in range(3):
                client = stack.enter_context(RawClient(proxy.port()))
                client.ask(api_versions(1))
            shown = proxy.get_json("/api/v1/connections")["connections"]
            assert silent in {each["upstream"] for each in shown}
