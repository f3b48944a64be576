"""kproxy.routing.binding: real sockets, at the addresses that hosts have."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kproxy.config.address import join_host_port
from kproxy.routing.binding import bound_at, listen
from tests.support.hosts_file import BOTH, with_hosts
from tests.unit.relay.sockets import open_files

HOST = "127.0.0.1"

BINDING = """
import json, os, socket, sys
from kproxy.config.address import join_host_port
from kproxy.routing.binding import bound_at, listen

def show(host, port=0):
    try:
        return bound_at(listen(host, port))
    except OSError as error:
        return [error.errno, error.strerror, error.filename]
"""


def shown(directory: Path, script: str, hosts: str = BOTH, *, ipv6: bool = True) -> Any:
    """Return the JSON that a script prints after BINDING, in a process that has these hosts."""
    command = [*with_hosts(directory, hosts, ipv6=ipv6), sys.executable, "-c", BINDING + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def one(host: str, port: int = 0) -> socket.socket:
    """Listen at a host of one address."""
    (listener,) = listen(host, port)
    return listener


def test_a_port_is_bound_before_listen_returns() -> None:
    """A client can connect at once, before any task accepts."""
    with one(HOST) as listener:
        assert not listener.getblocking()
        with socket.create_connection(listener.getsockname(), timeout=5) as client:
            assert client.getpeername() == listener.getsockname()


def test_a_taken_port_is_an_error() -> None:
    """The error has the kernel's reason, and no address: the caller has named the only one."""
    with one(HOST) as listener, pytest.raises(OSError, match="in use") as caught:
        listen(HOST, listener.getsockname()[1])
    assert caught.value.filename is None


def test_a_port_is_free_again_at_once() -> None:
    """A restart need not wait for the former process's connections to expire."""
    with one(HOST) as listener:
        address = listener.getsockname()
        client = socket.create_connection(address, timeout=5)
        listener.setblocking(True)
        listener.accept()[0].close()
    with client, one(*address) as again:
        assert again.getsockname() == address


def test_a_name_that_is_none_of_this_machine() -> None:
    """It is impossible to listen on an unknown name or another machine's address."""
    with pytest.raises(OSError, match=r".+"):
        listen("no-such-host.invalid", 0)
    with pytest.raises(OSError, match="Cannot assign requested address"):
        listen("192.0.2.1", 0)


def test_ipv6() -> None:
    """`::1` is reachable over IPv6."""
    with one("::1") as listener:
        assert bound_at([listener]) == [f"[::1]:{listener.getsockname()[1]}"]
        socket.create_connection(("::1", listener.getsockname()[1]), timeout=5).close()


def test_every_address_of_the_machine() -> None:
    """`::` accepts clients of both families, `0.0.0.0` those of IPv4."""
    with one("::") as both, one("0.0.0.0") as old:
        for host in ("::1", HOST):
            socket.create_connection((host, both.getsockname()[1]), timeout=5).close()
        socket.create_connection((HOST, old.getsockname()[1]), timeout=5).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("::1", old.getsockname()[1]), timeout=5)


def test_every_address_of_the_machine_apart() -> None:
    """Each family has a socket of its own, at one port: the address of an IPv4 client looks as it should."""
    sixth, fourth = listen("::", 0, apart=True)
    with sixth, fourth:
        port = fourth.getsockname()[1]
        assert bound_at([sixth, fourth]) == [f"[::]:{port}", f"0.0.0.0:{port}"]
        with socket.create_connection((HOST, port), timeout=5):
            fourth.setblocking(True)
            accepted, peer = fourth.accept()
        accepted.close()
    assert peer[0] == HOST


def test_a_name_of_two_families(tmp_path: Path) -> None:
    """It is bound at both, at one port: a client may try either first."""
    script = """
listeners = listen("localhost", 0)
port = listeners[0].getsockname()[1]
for host in ("127.0.0.1", "::1"):
    socket.create_connection((host, port), timeout=5).close()
print(json.dumps([sorted(bound_at(listeners)), port]))
"""
    bound, port = shown(tmp_path, script)
    assert bound == [f"127.0.0.1:{port}", f"[::1]:{port}"]


def test_a_machine_without_ipv6(tmp_path: Path) -> None:
    """Its hosts file has ::1 all the same: what is not here is left out, unless nothing else is named."""
    script = 'print(json.dumps([show("localhost", 9092), show("ip6-localhost", 9092), show("::1", 9092)]))'
    bound, alone, literal = shown(tmp_path, script, ipv6=False)
    assert bound == ["127.0.0.1:9092"]
    assert alone == literal == [99, "Cannot assign requested address", None]


@pytest.mark.parametrize("host", ["::1", HOST])
def test_a_port_that_is_taken_at_one_of_two_addresses(tmp_path: Path, host: str) -> None:
    """The error names the address; the socket at the other one is closed."""
    script = (
        f"host = {host!r}"
        + """
taken = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
port = taken.getsockname()[1]
before = len(os.listdir("/proc/self/fd"))
try:
    listen("localhost", port)
except OSError as error:  # its traceback keeps what is not closed
    left_open = len(os.listdir("/proc/self/fd")) - before
    print(json.dumps([[error.errno, error.strerror, error.filename], port, left_open]))
"""
    )
    error, port, left_open = shown(tmp_path, script)
    assert error == [98, "Address already in use", join_host_port(host, port)]
    assert left_open == 0


def test_any_port_is_one_that_is_free_at_all_addresses(tmp_path: Path) -> None:
    """Of the eight ports that this machine gives out, one is taken at 127.0.0.1 only: it is never chosen."""
    script = """
open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("40000 40007")
taken = socket.create_server(("127.0.0.1", 40003))
given = []
for _ in range(100):
    listeners = listen("localhost", 0)
    given.append([len(listeners), len({each.getsockname()[1] for each in listeners})])
    for each in listeners:
        each.close()
print(json.dumps(given))
"""
    command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    command += [*with_hosts(tmp_path), sys.executable, "-c", BINDING + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[2, 1]] * 100


def test_a_name_of_many_addresses(tmp_path: Path) -> None:
    """Each that is here is bound once; those of other machines are left out; if all are, the first is the reason."""
    hosts = BOTH + "".join(f"127.0.0.{n} many\n192.0.2.{n} many far\n" for n in range(1, 101)) + "127.0.0.1 many\n"
    script = 'print(json.dumps([sorted(show("many", 9092)), show("far", 9092)]))'
    bound, far = shown(tmp_path, script, hosts, ipv6=False)
    assert bound == sorted(f"127.0.0.{n}:9092" for n in range(1, 101))
    assert far[:2] == [99, "Cannot assign requested address"]
    assert far[2].startswith("192.0.2.")


def test_nothing_stays_open_where_binding_fails() -> None:
    """However often it is tried, for instance at each reload."""
    before = open_files()
    for _ in range(3):
        with pytest.raises(OSError, match="Cannot assign"):
            listen("192.0.2.1", 0)
    assert open_files() <= before
