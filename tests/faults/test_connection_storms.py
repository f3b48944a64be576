"""Many connections at once, as attackers and fleets make them: others do not wait, and the process keeps its room."""

from __future__ import annotations

import resource
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.file_limit import file_limit_restored
from tests.support.proxy import Proxy
from tests.support.quick_broker import quick_broker
from tests.support.raw import HOST, RawClient, request
from tests.support.share import BUSY, pace
from tests.support.wait import until
from tests.support.witness import Witness, witness

STORM = 3000
SILENT = 0.05
"""Seconds of kproxy's work that another client's request may be behind while clients only connect, at a pace of 1."""
RESET = struct.pack("ii", 1, 0)
HEARTBEAT = request(12, 0, 1)


@pytest.fixture
def many_files() -> Iterator[None]:
    """Allow this process as many descriptors as the system does."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with file_limit_restored():
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        yield


@contextmanager
def kproxy(directory: Path, *, files: int | None = None, **settings: Any) -> Iterator[Proxy]:
    """Run kproxy in front of a quick broker, with so many descriptors."""
    with quick_broker() as (address, _):
        proxy = Proxy(directory, {"quick": address}, **settings)
        if files is not None:
            limited = f'ulimit -n {files} && exec "$@"'
            proxy._command = ["sh", "-c", limited, "sh", *proxy._command]
        with proxy:
            yield proxy


@contextmanager
def witnessed(directory: Path) -> Iterator[tuple[Proxy, Witness]]:
    """Run kproxy in front of a quick broker, with a witness."""
    with (
        quick_broker() as (address, broker),
        Proxy(directory, {"quick": address}) as proxy,
        witness(proxy.port(), proxy.pid, broker) as seen,
    ):
        yield proxy, seen


class Storm:
    """Clients that connect without waiting for each other."""

    def __init__(self, port: int, count: int) -> None:
        self.clients = [socket.socket() for _ in range(count)]
        for client in self.clients:
            client.setblocking(False)
            client.connect_ex((HOST, port))

    def speak(self) -> int:
        """Send a request on each, and wait for the responses; return how many came."""
        answered = 0
        with select.epoll() as epoll:
            waiting = {client.fileno(): client for client in self.clients}
            for number in waiting:
                epoll.register(number, select.EPOLLOUT | select.EPOLLONESHOT)
            while waiting and (events := epoll.poll(30)):
                for number, event in events:
                    try:
                        if event & select.EPOLLIN:
                            answered += bool(waiting.pop(number).recv(100))
                        else:
                            waiting[number].send(HEARTBEAT)
                            epoll.modify(number, select.EPOLLIN | select.EPOLLONESHOT)
                    except OSError:
                        waiting.pop(number, None)
        return answered

    def reset(self) -> None:
        """Reset all of them."""
        for client in self.clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            client.close()


def active(proxy: Proxy) -> float:
    """Client connections that are open."""
    return proxy.metric("kproxy_connections_active")


@pytest.mark.usefixtures("many_files")
def test_a_storm_of_clients_that_send_nothing(tmp_path: Path) -> None:
    """They come, speak up at once after all, and leave at once: no request of another waits 50 ms for any of that."""
    with witnessed(tmp_path) as (proxy, seen):
        storm = Storm(proxy.port(), STORM)
        until(lambda: active(proxy) == STORM + 1, "all of them silent")
        assert storm.speak() == STORM
        storm.reset()
        until(lambda: active(proxy) == 1, "the end of all")
    assert seen.requests > 100
    assert seen.most < SILENT * pace()


@pytest.mark.usefixtures("many_files")
def test_a_storm_of_clients_that_speak_at_once(tmp_path: Path) -> None:
    """Each has a broker dialled and is answered: by default a fleet behind one address comes back in seconds."""
    with witnessed(tmp_path) as (proxy, seen):
        storm = Storm(proxy.port(), STORM)
        assert storm.speak() == STORM
        storm.reset()
        until(lambda: active(proxy) == 1, "the end of all")
        assert proxy.metric("kproxy_connections_closed_total", reason="address_rate") == 0
    assert seen.most < BUSY * pace()


def _answered(client: RawClient) -> bool:
    """Return whether the client gets a response; otherwise it was closed."""
    try:
        client.ask(HEARTBEAT)
    except (EOFError, ConnectionError):
        return False
    return True


def test_descriptors_are_kept_back(tmp_path: Path) -> None:
    """Clients beyond those that the limit of open files allows are closed; probes and broker connections go on."""
    with kproxy(tmp_path, files=400, limits={"max_connections_per_address": 1000}) as proxy:
        assert proxy.metric("kproxy_connections_limit") == 150
        clients = [RawClient(proxy.port()) for _ in range(250)]
        assert sum(map(_answered, clients)) == 150  # clients that come at once are admitted in any order
        assert proxy.get("/livez")[0] == 200
        assert proxy.metric("process_open_fds") < 320
        assert proxy.metric("kproxy_connections_closed_total", reason="client_limit") == 100
        assert proxy.metric("kproxy_upstream_connect_failures_total") == 0
        for client in clients:
            client.close()


def test_the_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    """Most systems give a process a soft limit far below the hard one; the log says what it is now."""
    with kproxy(tmp_path) as proxy:
        proxy.stop()
        proxy._command = ["sh", "-c", 'ulimit -Sn 256 && exec "$@"', "sh", *proxy._command]
        proxy.start()
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert proxy.metric("process_max_fds") == hard
        (line,) = proxy.logged(event="client connections are limited")[-1:]
        assert (line["open_files_before"], line["open_files"]) == (256, hard)
        assert line["most"] == proxy.metric("kproxy_connections_limit") > 256


def test_the_rate_of_all_clients(tmp_path: Path) -> None:
    """Clients beyond it wait, and all are served; the pauses are counted."""
    with kproxy(tmp_path, limits={"connections_per_second": 50}) as proxy:
        clients = [RawClient(proxy.port()) for _ in range(100)]
        for client in clients:
            client.ask(HEARTBEAT)
            client.close()
        assert proxy.metric("kproxy_accept_pauses_total") > 0
        assert proxy.metric("kproxy_connections_closed_total", reason="address_rate") == 0


def test_an_address_that_connects_too_often(tmp_path: Path) -> None:
    """It is closed from its burst on, while a client of another address is served at once."""
    with kproxy(tmp_path, limits={"connections_per_second_per_address": 1}) as proxy:
        for _ in range(20):
            with RawClient(proxy.port()) as client:
                client.ask(HEARTBEAT)
        for _ in range(30):  # the address gains a connection for each second that this takes
            with RawClient(proxy.port()) as client, suppress(OSError, EOFError):
                client.ask(HEARTBEAT)
        assert proxy.metric("kproxy_connections_closed_total", reason="address_rate") > 15
        with socket.create_connection((HOST, proxy.port()), 10, source_address=("127.0.0.2", 0)) as other:
            other.sendall(HEARTBEAT)
            assert len(other.recv(100)) == 24


def test_long_client_ids_are_not_kept(tmp_path: Path) -> None:
    """A client id of 32 kB costs an idle connection no more than a short one."""
    with kproxy(tmp_path) as proxy:
        kept, clients = [], []
        for client_id in ("raw", "raw", "k" * 32_000):
            before, comers = proxy.rss, [RawClient(proxy.port()) for _ in range(300)]
            for client in comers:
                client.ask(request(12, 0, 1, client_id=client_id))
            kept.append((proxy.rss - before) / len(comers) / 1024)
            clients += comers
        for client in clients:
            client.close()
        assert kept[2] < kept[1] + 6, f"KiB a connection, with short ids twice and with long ones: {kept}"
