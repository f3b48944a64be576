"""`kproxy serve` as a process: its exit codes, and the one line that it prints for a wrong setting."""

from __future__ import annotations

import http.client
import json
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import structlog
import yaml

from kproxy.app.process import Process
from kproxy.app.run import CONFIGURATION_ERROR, SWITCH_INTERVAL, run
from kproxy.config import load
from kproxy.errors import ConfigError
from kproxy.local_kafka.ports import free_port, free_ports
from kproxy.state.database import connect
from kproxy.upstream.dial import reason
from tests.support.file_limit import file_limit_restored
from tests.support.hosts_file import with_hosts
from tests.support.violation import never
from tests.support.wait import until

HOST = "127.0.0.1"
COMMAND = (sys.executable, "-m", "kproxy", "serve")


@contextmanager
def serving(*flags: str, stderr: int = subprocess.PIPE, within: Sequence[str] = ()) -> Iterator[subprocess.Popen[str]]:
    """Yield the process, whose command begins with `within`; kill it at the end when it still runs."""
    process = subprocess.Popen([*within, *COMMAND, *flags], stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def state(port: int) -> str | None:
    """Return the state in /readyz, None while there is no answer."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        found: str = json.loads(connection.getresponse().read())["state"]
    except OSError:
        return None
    finally:
        connection.close()
    return found


@pytest.fixture
def ports() -> range:
    """Return four adjacent free ports: bootstrap and three nodes."""
    return free_ports(4)


def refused(*flags: str) -> list[str]:
    """Return the lines on standard error of a process that must end with exit code 2 and print nothing else."""
    with serving(*flags) as process:
        out, err = process.communicate(timeout=30)
    assert process.returncode == 2, err
    assert out == ""
    return [line for line in err.splitlines() if not line.startswith("{")]


def file(directory: Path, **settings: object) -> str:
    path = directory / "kproxy.yaml"
    path.write_text(yaml.safe_dump(settings))
    return str(path)


def cluster(listen: str, **nodes: object) -> Mapping[str, object]:
    return {"name": "c", "bootstrap_servers": f"{HOST}:1", "listen": listen, "nodes": nodes}


def test_a_bootstrap_port_in_use(ports: range) -> None:
    """One line: the setting's key, the address, the kernel's reason."""
    with socket.create_server((HOST, ports[0])):
        lines = refused("--bootstrap-servers", f"{HOST}:1", "--listen", f"{HOST}:{ports[0]}")
    assert lines == [f"kproxy: clusters.0.listen: cannot listen on {HOST}:{ports[0]}: address already in use"]


def test_an_admin_port_in_use(tmp_path: Path, ports: range) -> None:
    """It is as for any other listener."""
    admin = f"{HOST}:{ports[3]}"
    with socket.create_server((HOST, ports[3])):
        (line,) = refused("--config", file(tmp_path, clusters=[cluster(f"{HOST}:{ports[0]}")], admin=admin))
    assert line.startswith(f"kproxy: admin: cannot listen on {admin}: ")
    assert "in use" in line


def test_a_node_port_in_use(tmp_path: Path, ports: range) -> None:
    """A node that the configuration names has one port; when that is taken, the line has the node and the port."""
    settings = cluster(f"{HOST}:{ports[0]}", strategy="offset", ranges="5-7")
    with socket.create_server((HOST, ports[2])):
        lines = refused("--config", file(tmp_path, clusters=[settings]))
    assert lines == [
        f"kproxy: clusters.0.nodes.first_port: port {ports[2]} of node 6 is taken by another process",
    ]


def test_a_host_that_is_not_this_machine() -> None:
    """A name without an address, and another machine's address, give one line each."""
    with pytest.raises(socket.gaierror) as nowhere:  # what this machine's resolver says of it
        socket.getaddrinfo("no-such-host.invalid", 9092)
    why = reason(nowhere.value)
    (unknown,) = refused("--bootstrap-servers", f"{HOST}:1", "--listen", "no-such-host.invalid:9092")
    assert unknown == f"kproxy: clusters.0.listen: cannot listen on no-such-host.invalid:9092: {why}"
    (foreign,) = refused("--bootstrap-servers", f"{HOST}:1", "--listen", "192.0.2.1:9092")
    assert foreign == "kproxy: clusters.0.listen: cannot listen on 192.0.2.1:9092: cannot assign requested address"


def test_a_machine_without_ipv6(tmp_path: Path) -> None:
    """Its hosts file has ::1 for localhost all the same: kproxy starts, at 127.0.0.1, and says so."""
    flags = ["--listen", "localhost:9092", "--admin", "localhost:9190", "--log-format", "json"]
    alone = with_hosts(tmp_path, ipv6=False)
    with serving("--bootstrap-servers", f"{HOST}:1", *flags, within=alone) as process:
        assert process.stderr is not None
        opened: dict[str, object] = {}
        while len(opened) < 2:
            line = process.stderr.readline()
            assert line, f"it ended with {process.wait(20)}; it had opened {opened}"
            said = json.loads(line)
            if said["event"] in {"admin port is open", "listening"}:
                opened[said["event"]] = said["bound"]
    assert opened == {"admin port is open": [f"{HOST}:9190"], "listening": [f"{HOST}:9092"]}


def test_backend_that_is_not_there(ports: range) -> None:
    """It starts without its backend, whose name has no address: degraded, not dead; SIGTERM ends it with 0."""
    admin = free_port()
    flags = ["--bootstrap-servers", "no-such-host.invalid:9092", "--listen", f"{HOST}:{ports[0]}"]
    with serving(*flags, "--admin", f"{HOST}:{admin}", "--log-format", "json") as process:
        until(lambda: state(admin) == "degraded", "degraded", timeout=20)
        with socket.create_connection((HOST, ports[0]), timeout=5) as client:
            client.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\x01\xff\xff")
            client.settimeout(20)
            try:
                assert client.recv(10) == b""
            except ConnectionResetError:
                pass
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    events = [json.loads(line) for line in err.splitlines()]
    assert [event["reason"] for event in events if event["event"] == "connection ended"] == ["resolve_failed"]
    assert events[-1]["event"] == "stopped"


def test_a_second_sigterm_ends_a_drain(ports: range) -> None:
    """The drain waits for the broker's answer until the second signal: exit code 1, at once."""
    admin = free_port()
    with socket.create_server((HOST, ports[3])):
        flags = ["--bootstrap-servers", f"{HOST}:{ports[3]}", "--listen", f"{HOST}:{ports[0]}"]
        with serving(*flags, "--admin", f"{HOST}:{admin}") as process:
            until(lambda: not _refuses(ports[0]), "its listener", timeout=20)
            with socket.create_connection((HOST, ports[0]), timeout=5) as client:
                client.sendall(b"\0\0\0\x0a\0\x0c\0\0\0\0\0\x01\xff\xff")
                until(lambda: _in_flight(admin) == 1, "a request in flight")
                process.send_signal(signal.SIGTERM)
                until(lambda: state(admin) == "draining", "the drain")
                until(lambda: _refuses(ports[0]), "a closed port")
                process.send_signal(signal.SIGTERM)
                assert process.wait(timeout=5) == 1


def _refuses(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def _in_flight(admin: int) -> int:
    connection = http.client.HTTPConnection(HOST, admin, timeout=5)
    connection.request("GET", "/api/v1/connections")
    shown = json.loads(connection.getresponse().read())["connections"]
    connection.close()
    return sum(each["in_flight"] for each in shown)


def test_a_log_that_nobody_reads_any_more(ports: range) -> None:
    """The reader of its standard error is gone: it goes on serving, and ends properly."""
    admin = free_port()
    read, write = os.pipe()
    flags = ["--bootstrap-servers", f"{HOST}:1", "--listen", f"{HOST}:{ports[0]}", "--admin", f"{HOST}:{admin}"]
    with serving(*flags, stderr=write) as process:
        os.close(read)
        os.close(write)
        until(lambda: state(admin) == "degraded", "degraded", timeout=20)
        for _ in range(3):
            with socket.create_connection((HOST, ports[0]), timeout=5) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        until(lambda: _in_flight(admin) == 0, "the admin port's answer")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


def _fill(pipe: int) -> None:
    """Write into a pipe until it takes no byte more, as if nobody had read it for long."""
    os.set_blocking(pipe, False)
    try:
        while True:
            os.write(pipe, bytes(1))
    except BlockingIOError:
        os.set_blocking(pipe, True)


@pytest.mark.parametrize("ending", ["drain", "second signal"])
def test_a_log_that_nobody_reads(ports: range, ending: str) -> None:
    """Its standard error takes nothing: it starts, serves, answers the admin port, drains and ends all the same."""
    admin = free_port()
    read, write = os.pipe()
    _fill(write)
    flags = [
        "--bootstrap-servers",
        f"{HOST}:{ports[3]}",
        "--listen",
        f"{HOST}:{ports[0]}",
        "--admin",
        f"{HOST}:{admin}",
    ]
    with socket.create_server((HOST, ports[3])), serving(*flags, stderr=write) as process:
        os.close(write)
        until(lambda: state(admin) == "degraded", "degraded", timeout=20)
        for _ in range(300):
            with socket.create_connection((HOST, ports[0]), timeout=5) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                _ended(client)
        with socket.create_connection((HOST, ports[0]), timeout=5) as client:
            if ending == "second signal":
                client.sendall(b"\0\0\0\x0a\0\x0c\0\0\0\0\0\x01\xff\xff")
                until(lambda: _in_flight(admin) == 1, "a request in flight")
                process.send_signal(signal.SIGTERM)
                until(lambda: state(admin) == "draining", "the drain")
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == (0 if ending == "drain" else 1)
    os.close(read)


def test_a_dead_broker_and_eight_clients(ports: range, tmp_path: Path) -> None:
    """A log line for each end would fill a disk: the first, then a sum each ten seconds; the metric has every one."""
    admin, log = free_port(), tmp_path / "log"
    flags = ["--bootstrap-servers", f"{HOST}:1", "--listen", f"{HOST}:{ports[0]}", "--admin", f"{HOST}:{admin}"]
    began = time.monotonic()
    with log.open("w") as stderr, serving(*flags, stderr=stderr.fileno()) as process:
        until(lambda: state(admin) == "degraded", "degraded", timeout=20)
        with ThreadPoolExecutor(8) as clients:
            list(clients.map(lambda _: _bootstrap(ports[0]), range(1500)))
        counted = _closed(admin)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    seconds = time.monotonic() - began
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (ended,) = [line for line in lines if line["event"] == "connection ended"]
    left_out = [line for line in lines if line["event"] == "lines left out"]
    assert 1 <= len(left_out) <= 1 + seconds / 10
    assert sum(line["lines"] for line in left_out) + 1 == counted == 1500
    assert {(line["of"], line["reason"], line["node"]) for line in left_out} == {
        ("connection ended", "connect_failed", "bootstrap")
    }
    assert {line["detail"] for line in left_out} == {ended["detail"]}
    assert left_out[0]["clients"] == {HOST: left_out[0]["lines"]}
    assert len(lines) < 30


def _bootstrap(port: int) -> None:
    with socket.create_connection((HOST, port), timeout=5) as client:
        client.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\x01\xff\xff")
        _ended(client)


def _ended(client: socket.socket) -> None:
    try:
        client.recv(1)
    except ConnectionResetError:
        pass


def _closed(admin: int) -> int:
    connection = http.client.HTTPConnection(HOST, admin, timeout=5)
    connection.request("GET", "/metrics")
    page = connection.getresponse().read().decode()
    connection.close()
    found = [line for line in page.splitlines() if line.startswith("kproxy_connections_closed_total{")]
    return sum(int(float(line.rpartition(" ")[2])) for line in found)


BAD_STATE: Mapping[tuple[str, str], bytes | str] = {
    ("upstream", "orders"): b"\xff\xfe",
    ("stays", "orders"): b"no JSON",
    ("telemetry/orders", "broken"): b"{no JSON",
    ("telemetry/orders", "list"): b"[1, 2]",
    ("telemetry/orders", "number"): b'{"interval.ms": 5}',
    ("telemetry/orders", "deep"): b"[" * 100_000,
    ("telemetry/orders", "text"): "not bytes",
    ("telemetry/orders", "good"): b'{"metrics": "org.apache.kafka."}',
}


def test_state_that_cannot_be_read(ports: range, tmp_path: Path) -> None:
    """It starts, without a traceback, with what can be read; each other value is told once and kept aside."""
    database = tmp_path / "state.db"
    connect(str(database)).close()
    _write(database, BAD_STATE)
    cluster = {"name": "orders", "bootstrap_servers": f"{HOST}:1", "listen": f"{HOST}:{ports[0]}", "telemetry": {}}
    admin = free_port()
    settings = file(tmp_path, clusters=[cluster], state={"path": str(database)}, admin=f"{HOST}:{admin}")
    for unreadable in (len(BAD_STATE) - 1, 0):
        with serving("--config", settings) as process:
            until(lambda: state(admin) == "degraded", "degraded", timeout=20)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=20)
        assert process.returncode == 0, err
        never("Traceback" in err, f"a traceback in kproxy's log: {err}")
        told = [line for line in map(json.loads, err.splitlines()) if line["event"].startswith("state cannot be read")]
        assert len(told) == unreadable
    kept = _rows(database)
    good = {("telemetry/orders", "good")}
    for (table, key), value in BAD_STATE.items():
        if (table, key) not in good:
            assert kept[f"unreadable/{table}", key] == (value.encode() if isinstance(value, str) else value)
    assert good <= kept.keys()


def _write(database: Path, rows: Mapping[tuple[str, str], bytes | str]) -> None:
    connection = sqlite3.connect(database)
    with connection:
        connection.executemany(
            "INSERT INTO entries VALUES (?, ?, ?)", [(*names, value) for names, value in rows.items()]
        )
    connection.close()


def _rows(database: Path) -> dict[tuple[str, str], bytes]:
    connection = sqlite3.connect(database)
    rows = connection.execute("SELECT collection, key, value FROM entries").fetchall()
    connection.close()
    return {(table, key): value for table, key, value in rows}


@pytest.fixture
def _process_settings() -> Iterator[None]:
    """Restore what `run` sets for the whole process."""
    interval, root, hook = sys.getswitchinterval(), logging.getLogger(), sys.excepthook
    handlers, level = root.handlers[:], root.level
    with file_limit_restored():
        yield
    sys.setswitchinterval(interval)
    sys.excepthook = hook
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.usefixtures("_process_settings")
@pytest.mark.parametrize("form", ["auto", "console"])
def test_a_port_that_is_taken_in_process(ports: range, capsys: pytest.CaptureFixture[str], form: str) -> None:
    """`run` returns the code; threads yield the interpreter ten times as often as by default."""
    settings = {"bootstrap_servers": f"{HOST}:1", "listen": f"{HOST}:{ports[0]}", "log.format": form}
    with socket.create_server((HOST, ports[0])):
        assert run(load(None, settings, {})) == CONFIGURATION_ERROR
    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
    assert capsys.readouterr().err == (
        f"kproxy: clusters.0.listen: cannot listen on {HOST}:{ports[0]}: address already in use\n"
    )


@pytest.mark.usefixtures("_process_settings")
def test_a_fault_of_its_own_is_no_wrong_setting(ports: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug keeps its traceback, also when a wrong setting was met at the same time."""
    settings = load(None, {"bootstrap_servers": f"{HOST}:1", "listen": f"{HOST}:{ports[0]}"}, {})

    async def fail(process: Process) -> int:
        raise ExceptionGroup("both", [ConfigError("listen", "is wrong"), ZeroDivisionError("a bug")])

    monkeypatch.setattr(Process, "live", fail)
    with pytest.raises(ExceptionGroup) as caught:
        run(settings)
    assert caught.group_contains(ZeroDivisionError)
