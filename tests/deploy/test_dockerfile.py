"""The Dockerfile and what goes into the image with it, without building it."""

from __future__ import annotations

import http.server
import runpy
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kproxy.local_kafka.ports import free_port
from tests.support import tools
from tests.support.admin_serving import Serving, secured
from tests.support.authority import Authority

DEADLINE_MS = 30_000
HEALTHCHECK = tools.ROOT / "deploy" / "image" / "healthcheck.py"


class _Admin(http.server.BaseHTTPRequestHandler):
    """An admin port that is ready but not live: the opposite of what the check asks by default."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/readyz" else 503)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def admin() -> Iterator[int]:
    """Yield the port of a server that answers 200 to /readyz and 503 to everything else."""
    with http.server.HTTPServer(("127.0.0.1", 0), _Admin) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def _check(*arguments: str, admin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
    return tools.run(sys.executable, "-IS", HEALTHCHECK, *arguments, env={"KPROXY_ADMIN": admin, **environ})


def test_hadolint_passes() -> None:
    """hadolint reports nothing, not even information."""
    assert tools.output(tools.ensure("hadolint"), "--failure-threshold", "style", "Dockerfile") == ""


def test_hadolint_would_object(tmp_path: Path) -> None:
    """The same call can fail: it refuses an unpinned base and a cd."""
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM python\nRUN cd /tmp\n")
    done = tools.run(tools.ensure("hadolint"), "--failure-threshold", "style", bad)
    assert done.returncode != 0
    assert {"DL3006", "DL3003"} <= set(done.stdout.split())


def test_healthcheck_accepts_200(admin: int) -> None:
    """An answer of 200 is healthy, whether the address is an argument or KPROXY_ADMIN."""
    assert _check(f"127.0.0.1:{admin}", "/readyz").returncode == 0
    assert _check(f"0.0.0.0:{admin}", "/readyz").returncode == 0


@pytest.mark.parametrize("address", ["0.0.0.0:{}", "127.0.0.1:{}", ":{}"])
def test_healthcheck_refuses_503(admin: int, address: str) -> None:
    """Any other status is unhealthy, and the line says which; an any-address in KPROXY_ADMIN means loopback."""
    done = _check(admin=address.format(admin))
    assert (done.returncode, done.stderr) == (1, f"http://127.0.0.1:{admin}/livez: HTTP/1.0 503 Service Unavailable\n")


@pytest.mark.parametrize("demands", [False, True])
def test_healthcheck_of_an_admin_port_with_tls(tmp_path: Path, demands: bool) -> None:
    """It finds out that the port speaks TLS, or is told; where a certificate is demanded it shows one."""
    authority = Authority(tmp_path)
    own = authority.signed("kproxy")
    shown = {"KPROXY_ADMIN_CERTIFICATE_FILE": str(own.chain), "KPROXY_ADMIN_KEY_FILE": str(own.key)}
    with Serving(secured(authority, own, demands=demands)) as serving:
        where = f"127.0.0.1:{serving.port}"
        for address in (where, f"https://{where}"):
            done = _check(address, **shown if demands else {})
            assert (done.returncode, done.stderr) == (0, "")
        done = _check(where, "/nowhere", **shown)
        assert (done.returncode, done.stderr) == (1, f"https://{where}/nowhere: HTTP/1.1 404 Not Found\n")
        if demands:
            assert "certificate required" in _check(where).stderr


def test_healthcheck_tells_why_the_port_has_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where that is before it asks: in TLS 1.3 the server looks at the certificate when the client is done."""
    check = runpy.run_path(str(HEALTHCHECK))
    ask, secure = check["ask"], check["secured"]

    def closed(plain: socket.socket, scheme: str) -> socket.socket:
        connection: socket.socket = secure(plain, scheme)
        end = select.poll()
        end.register(connection, select.POLLRDHUP)
        assert end.poll(DEADLINE_MS)
        return connection

    monkeypatch.setitem(ask.__globals__, "secured", closed)
    authority = Authority(tmp_path)
    with Serving(secured(authority, authority.signed("kproxy"), demands=True)) as serving:
        assert check["main"]([f"https://127.0.0.1:{serving.port}"]) == 1
    assert "certificate required" in capsys.readouterr().err


def test_healthcheck_refuses_silence() -> None:
    """A port without a listener is unhealthy, reported in one line."""
    port = free_port()
    done = _check(admin=f"[::]:{port}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"http://127.0.0.1:{port}/livez: ")
    assert done.stderr.count("\n") == 1
