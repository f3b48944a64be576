"""What no client and no log may show: a broker's own addresses, and secrets of the configuration."""

from __future__ import annotations

import struct
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.raw import RawClient, api_versions, array, request, string
from tests.support.violation import never
from tests.support.wait import until

from . import otlp
from .broker import OWN_HOST

_TOKEN: Final = "tok3n-of-the-collector"
_USER: Final = "us3r-of-the-url"
_PASSWORD: Final = "passw0rd-of-the-url"
_QUERY: Final = "qu3ry-token"
_TELEMETRY: Final = {"telemetry": {"interval": 0.1, "subscriptions": [{"name": "all", "metrics": "*"}]}}


@pytest.mark.parametrize("node_id", ["1", "2"])
def test_described_configs(proxy: Proxy, node_id: str) -> None:
    """DescribeConfigs shows what a broker is set to, but no address of its own (issue 18, row 14)."""
    asked = array([b"\x04" + string(node_id) + struct.pack(">i", -1)]) + b"\x01"
    with RawClient(proxy.port()) as client:
        client.ask(api_versions(1))
        answer = client.ask(request(32, 1, 2, asked))
    assert b"log.retention.hours" in answer
    assert b"168" in answer
    never(OWN_HOST.encode() in answer, f"the broker's own host is shown: {answer!r}")


class _Refusing(BaseHTTPRequestHandler):
    """A collector that refuses every push, and says in its answer what it was sent."""

    def do_POST(self) -> None:
        said = f"{self.headers['Authorization']} {self.path}".encode()
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(401)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def collector() -> Iterator[int]:
    """The port of a collector that refuses every push."""
    with ThreadingHTTPServer((HOST, 0), _Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def _receiver(header: str = f"Bearer {_TOKEN}", user: str = "", port: int = 9) -> dict[str, object]:
    url = f"http://{user}{HOST}:{port}/v1/metrics?token={_QUERY}"
    return {"name": "collector", "type": "otlp", "url": url, "headers": {"Authorization": header}}


def _check(written: str) -> None:
    """No secret is in a text."""
    secrets = {"the token": _TOKEN, "the URL's password": _PASSWORD, "the URL's query": _QUERY}
    found = [name for name, secret in secrets.items() if secret in written]
    never(bool(found), f"shown: {found}")


@pytest.mark.parametrize("ending", ["", "\n", "\r\nX-Injected: yes", "\0"])
def test_header_of_a_receiver(backend: str, collector: int, tmp_path: Path, ending: str) -> None:
    """No token is written: not when a delivery fails, nor when its header cannot be sent (issue 18, row 13)."""
    receiver = _receiver(f"Bearer {_TOKEN}{ending}", port=collector)
    proxy = Proxy(tmp_path, {"attacked": backend}, each=_TELEMETRY, receivers=[receiver])
    written = ""
    try:
        proxy.start()
    except AssertionError:  # it refuses the header, and says so
        assert "Authorization" in proxy.log.read_text()
    else:
        _push(proxy)
        until(lambda: "collector" in proxy.log.read_text(), "a line on the failed delivery", timeout=20)
        written = proxy.get("/metrics")[1].decode() + proxy.get("/api/v1/clusters")[1].decode()
    finally:
        proxy.kill()
        _check(written + proxy.log.read_text())


def _push(proxy: Proxy) -> None:
    with RawClient(proxy.port()) as client:
        client.ask(api_versions(1))
        client.send(otlp.get())
        correlation_id, body = client.receive()
        instance, subscription_id = otlp.subscribed(correlation_id.to_bytes(4, "big") + body)
        metrics = otlp.metrics_data(otlp.gauge("a", otlp.point(1.0)))
        client.send(otlp.push(instance, subscription_id, metrics, otlp.NONE))
        client.receive()


def _printed(command: str, directory: Path, receiver: dict[str, object]) -> str:
    """Return what `kproxy config` prints of a configuration with this receiver."""
    config = directory / "kproxy.yaml"
    cluster = {"name": "attacked", "bootstrap_servers": f"{HOST}:9", "listen": f"{HOST}:9092"}
    config.write_text(yaml.safe_dump({"clusters": [{**cluster, **_TELEMETRY}], "receivers": [receiver]}))
    place = ["--config", str(config)] if command == "show" else [str(config)]
    run = subprocess.run([KPROXY, "config", command, *place], capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


def test_query_of_a_url(tmp_path: Path) -> None:
    """A token in a URL's query is masked where the configuration is shown; the rest of the URL is not (row 13)."""
    shown = _printed("show", tmp_path, _receiver())
    assert f"{HOST}:9" in shown
    _check(shown)


def test_refused_url(tmp_path: Path) -> None:
    """A URL with a password is refused by its place and not by its text (row 13)."""
    said = _printed("check", tmp_path, _receiver(user=f"{_USER}:{_PASSWORD}@"))
    assert "receivers.0" in said
    _check(said)
