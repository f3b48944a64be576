"""Unique secrets in every place of the configuration that can hold one, every kind of failure, and no trace of them.

Looked through: standard error and output, every page of the admin port, events, the state file, what commands print.
"""

from __future__ import annotations

import gzip
import http.server
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.cli import main
from tests.support.backend import Backend
from tests.support.proxy import HOST, KPROXY, Proxy
from tests.support.raw import RawClient, frame, string
from tests.support.violation import never
from tests.support.wait import until

GET, PUSH = 71, 72
NO_TAGS = b"\0"
ROOT = Path(__file__).parents[2]
PAGES = (
    "/metrics",
    "/metrics/clients",
    "/livez",
    "/readyz",
    "/api/v1/clusters",
    "/api/v1/connections",
    "/api/v1/clients",
    "/api/v1/clusters/kafka/events",
    "/api/v1/clusters/kafka/telemetry/instances",
    "/api/v1/clusters/kafka/telemetry/subscriptions",
)


class Planted:
    """Secrets that were planted, and all that kproxy wrote."""

    def __init__(self) -> None:
        self.secrets: list[str] = []
        self.written: dict[str, bytes] = {}

    def secret(self) -> str:
        """Return a new one, with characters that JSON, URLs and YAML leave as they are."""
        self.secrets.append(f"s3cret-{secrets.token_hex(8)}")
        return self.secrets[-1]

    def check(self) -> None:
        """Fail for each secret that was written somewhere, also if only its first half was."""
        halves = [each[:12].encode() for each in self.secrets]
        found = [where for where, text in self.written.items() if any(half in text for half in halves)]
        shown = {where: self._masked(where)[-2000:] for where in found}
        never(bool(found), f"a secret is in {found}, here by its number: {shown}")

    def _masked(self, where: str) -> str:
        text = self.written[where].decode(errors="replace")
        for number, secret in enumerate(self.secrets):
            text = text.replace(secret, f"<secret {number}>").replace(secret[:12], f"<half of secret {number}>")
        return text


@pytest.fixture
def planted() -> Iterator[Planted]:
    """Yield what collects secrets and output, and look through it at the end."""
    planted = Planted()
    yield planted
    planted.check()


@pytest.fixture(autouse=True)
def _plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a plug-in whose errors show its options, for the processes that a test starts."""
    metadata = tmp_path / "site" / "leaky-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: leaky\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        "[kproxy.telemetry_receivers]\nleaky = tests.support.leaky_plugin:leaky\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), str(ROOT)]))


class _Unauthorized(http.server.BaseHTTPRequestHandler):
    """Refuses every request, and repeats all of it in the answer, as careless gateways do.

    At /cut the token is where kproxy cuts the answer for its log.
    """

    def do_POST(self) -> None:
        token = self.headers["Authorization"]
        said = (
            f"{'.' * 180}{token}".encode() if self.path.startswith("/cut") else f"{self.path} {self.headers}".encode()
        )
        self.send_response(401)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def refusing() -> Iterator[int]:
    """Yield the port of an HTTP server that answers 401."""
    with http.server.ThreadingHTTPServer((HOST, 0), _Unauthorized) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@contextmanager
def echoing() -> Iterator[int]:
    """Yield the port of a server that is no HTTP server: it sends back what it gets."""

    def echo(client: socket.socket) -> None:
        with client:
            while data := client.recv(1 << 16):
                client.sendall(data[5:] if data.startswith(b"POST ") else data)

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=[client], daemon=True).start()

    with socket.create_server((HOST, 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def receivers(planted: Planted, unauthorized: int, echo: int) -> list[dict[str, Any]]:
    """Return receivers that fail in every way that one can, each with secrets of its own."""
    new = planted.secret

    def otlp(name: str, url: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {new()}\n", "X-Api-Key": f" {new()}\r\n"}
        url = f"{url}?token={new()}&{new()}"
        return {"name": name, "type": "otlp", "url": url, "headers": headers, "retry_for": "1s", "timeout": "5s"}

    return [
        otlp("unauthorized", f"http://{HOST}:{unauthorized}/v1/metrics"),
        otlp("cut", f"http://{HOST}:{unauthorized}/cut"),
        otlp("no-http", f"http://{HOST}:{echo}/v1/metrics"),
        otlp("no-tls", f"https://{HOST}:{echo}/v1/metrics"),
        otlp("nowhere", "http://no-such-host.invalid:4318/v1/metrics"),
        otlp("closed", f"http://{HOST}:1/v1/metrics"),
        {"name": "leaky", "type": "leaky", "options": {"token": new(), "more": {"passwords": [new(), {"p": new()}]}}},
    ]


def push(proxy: Proxy, client_id: str) -> None:
    """Get the subscription and push one metric."""
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name="org.apache.kafka.producer.sent")
    metric.sum.data_points.add(as_int=1)
    metrics = data.SerializeToString()
    with RawClient(proxy.port()) as client:
        subscribed = client.ask(_flexible(GET, 2, client_id, bytes(16)))
        head = subscribed[7:27] + struct.pack(">?b", False, 0)
        answered = client.ask(_flexible(PUSH, 3, client_id, head + bytes([len(metrics) + 1]) + metrics))
        assert answered[5:7] == b"\0\0"


def _flexible(api_key: int, correlation_id: int, client_id: str, body: bytes) -> bytes:
    head = struct.pack(">hhi", api_key, 0, correlation_id) + string(client_id) + NO_TAGS
    return frame(head + body + NO_TAGS)


def test_while_it_runs(kafka: Backend, tmp_path: Path, planted: Planted) -> None:
    """A 401 that repeats the request, a server without HTTP or TLS, no host, exceptions, refused reloads."""
    with refusing() as unauthorized, echoing() as echo:
        made = receivers(planted, unauthorized, echo)
        telemetry = {"interval": "100ms", "subscriptions": [{"name": "all", "metrics": "*"}]}
        events = {"destinations": [{"name": "lake", "type": "files", "directory": str(tmp_path / "lake")}]}
        proxy = Proxy(
            tmp_path,
            {"kafka": kafka.cluster.bootstrap},
            each={"telemetry": telemetry},
            receivers=made,
            events=events,
            state={"path": str(tmp_path / "state.db")},
        )
        try:
            proxy.start()
            _fail(proxy)
            for number, change in enumerate(mistakes(planted), 1):
                _reload(proxy, change, number)
            for page in PAGES:
                planted.written[page] = proxy.get(page)[1]
            proxy.signal()
            assert proxy.wait() == 0
        finally:
            proxy.kill()
            _collect(planted, tmp_path, proxy)  # the fixture looks through it, whatever has failed
    assert [name for name in planted.written if name.endswith(".gz")]
    assert [name for name in planted.written if name.endswith("state.db")]
    assert "'token': '**********'" in proxy.log.read_text()


def _fail(proxy: Proxy) -> None:
    for number in range(5):
        push(proxy, f"app-{number}")
    for name in ("unauthorized", "cut", "no-http", "no-tls", "nowhere", "closed", "leaky"):
        until(partial(_failed, proxy, name), f"a failure of {name}")
    until(lambda: proxy.logged(where="delivery"), "an exception on an item, or of the receiver")
    until(lambda: proxy.metric("kproxy_internal_errors_total", where="delivery") >= 2, "both of them")
    until(lambda: proxy.logged(logger="leaky"), "a line of the plug-in's own")


def _failed(proxy: Proxy, name: str) -> bool:
    return bool(proxy.logged(event="cannot deliver", to=name))


def _reload(proxy: Proxy, change: Callable[[dict[str, Any]], str | None], number: int) -> None:
    good = proxy.config.read_text()
    config = yaml.safe_load(good)
    text = change(config)
    proxy.config.write_text(yaml.safe_dump(config) if text is None else text)
    proxy.signal(signal.SIGHUP)
    until(lambda: len(proxy.logged(event="reload refused, nothing has changed")) == number, f"refusal {number}")
    proxy.config.write_text(good)


def _collect(planted: Planted, directory: Path, proxy: Proxy) -> None:
    for file in directory.rglob("*"):
        if file.is_file() and file != proxy.config:
            planted.written[str(file)] = data = file.read_bytes()
            with suppress(EOFError):  # cut off where kproxy was killed, after a failure
                planted.written[str(file)] = gzip.decompress(data) if file.suffix == ".gz" else data


Mistake = Callable[[dict[str, Any]], str | None]
"""Changes a configuration, or returns the text of another one."""


def mistakes(planted: Planted) -> list[Mistake]:
    """Return every kind of wrong setting beside or inside which a secret may stand."""
    new = planted.secret

    def otlp(**settings: Any) -> Mistake:
        return lambda config: config["receivers"][0].update(settings)

    def options(value: Any, **settings: Any) -> Mistake:
        return lambda config: config["receivers"][-1].update(options=value, **settings)

    def identity(value: Any) -> Mistake:
        return lambda config: config["clusters"][0].update(identity=value)

    plain = {"mechanism": "PLAIN", "username": "kproxy"}

    def text(receiver: str) -> Mistake:
        return lambda config: yaml.safe_dump(config | {"receivers": None}).replace("receivers: null", receiver)

    return [
        otlp(headers={"Authorization": f"Bearer {new()}\nX: y"}),
        otlp(headers={"Authorization": f"Bearer {new()}\0"}),
        otlp(headers={"Authorization": f"Bearer {new()} é"}),
        otlp(headers={"Authorization": [new()]}),
        otlp(headers={f"Authorization: Bearer {new()}": ""}),
        otlp(headers=f"Authorization: Bearer {new()}"),
        otlp(headers=[f"Authorization: Bearer {new()}"]),
        otlp(url=f"https://user:{new()}@collector/v1"),
        otlp(url=f"https://user:{new()} x@collector/v1"),
        otlp(url=f"https://user:{new()}/x@collector/v1"),
        otlp(url=f"user:{new()}@collector:4318"),
        otlp(url=f"ftp://collector/?token={new()}"),
        otlp(url=f"http://[::1/?token={new()}"),
        otlp(url=f"http://collector/é?token={new()}"),
        otlp(url=[f"https://user:{new()}@collector/v1"]),
        otlp(tls=f"https://user:{new()}@collector/v1"),
        otlp(timeout=0, url=f"https://collector/?{new()}"),
        otlp(type="oltp", options={"token": new()}),
        options({"refused": new()}),
        options(new()),
        options([new()]),
        options({"token": new()}, password=new()),
        identity(new()),
        identity([new()]),
        identity({"mechanism": new(), "username": "kproxy", "password": new()}),
        identity(plain | {"password": f"{new()}\n{new()}"}),
        identity(plain | {"password": [new()]}),
        identity(plain | {"password": new(), "password_file": "/nowhere"}),
        identity(plain | {"passwort": new()}),
        identity({"mechanism": "OAUTHBEARER", "token_file": "/nowhere", "password": new()}),
        lambda config: config.update(receivers=f"name: x, headers: {new()}"),
        lambda config: config["clusters"][0].update(bootstrap_servers=f"https://user:{new()}@broker:9092"),
        lambda config: config["clusters"][0].update(bootstrap_servers=f"user:{new()}@broker:9092"),
        lambda config: config["clusters"][0].update(bootstrap_servers=[f"user:{new()}@broker:port"]),
        lambda config: config["events"]["destinations"][0].update(
            type="kafka", topic="t", bootstrap_servers=f"user:{new()}@broker:9092"
        ),
        lambda config: config["events"].update(destinations=f"https://user:{new()}@broker/?k={new()}"),
        text(f"receivers: [{{name: x, headers: {{A: !{new()}}}}}]"),
        text(f"receivers: [{{name: x, headers: {{A: *{new()}}}}}]"),
        text(f"receivers: [{{name: x, headers: {{A: &{new()} [*{new()}]}}}}]"),
        text(f"receivers: [{{name: x, headers: {{A: '{new()}}}}}]"),
        text(f"receivers: [{{name: x, headers: {{A: b: {new()}: c}}}}]"),
        text(f"receivers: [{{name: x, headers: {{A: @{new()}}}}}]"),
        text(f'receivers: [{{name: x, headers: {{A: "\\q{new()}"}}}}]'),
        text(f"receivers: [{{name: x, headers: {{A: b, ? [{new()}] : c}}}}]"),
    ]


def _run(planted: Planted, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([KPROXY, *arguments], capture_output=True, check=False, timeout=60, env=os.environ | environ)
    planted.written[f"{len(planted.written)} {arguments} {sorted(environ)}"] = done.stdout + done.stderr
    return done


def _settings(planted: Planted) -> dict[str, Any]:
    identity = {"mechanism": "PLAIN", "username": "kproxy", "password": planted.secret()}
    upstreams = [{"name": "one", "bootstrap_servers": "a:1", "identity": {**identity, "password": planted.secret()}}]
    cluster = {"name": "a", "upstreams": upstreams, "listen": f"{HOST}:9092", "telemetry": {}, "identity": identity}
    return {
        "clusters": [cluster],
        "receivers": receivers(planted, 1, 2),
        "events": {"destinations": [{"name": "lake", "type": "files", "directory": "/nowhere/at/all"}]},
    }


def test_commands(tmp_path: Path, planted: Planted, capfd: pytest.CaptureFixture[str]) -> None:
    """`config show`, `config check` and `serve` print no secret, neither of a good file nor of a wrong one."""
    good, file = _settings(planted), tmp_path / "kproxy.yaml"
    file.write_text(yaml.safe_dump(good))
    shown = _run(planted, "config", "show", "--config", str(file))
    receiver = yaml.safe_load(shown.stdout)["receivers"][0]
    assert receiver["url"] == f"http://{HOST}:1/v1/metrics?token=**********&**********"
    assert receiver["headers"] == {"Authorization": "**********", "X-Api-Key": "**********"}
    assert _run(planted, "config", "check", str(file)).returncode == 0
    for number, mistake in enumerate(mistakes(planted)):
        wrong = json.loads(json.dumps(good))
        text = mistake(wrong)
        file.write_text(yaml.safe_dump(wrong) if text is None else text)
        assert main(["config", "check", str(file)]) == 2  # in this process: a hundred starts would take minutes
        planted.written[f"mistake {number}"] = "".join(capfd.readouterr()).encode()
    for command in ("serve", "config show"):
        file.write_text(yaml.safe_dump(good | {"receivers": f"https://user:{planted.secret()}@collector"}))
        assert _run(planted, *command.split(), "--config", str(file)).returncode == 2


def test_variables(planted: Planted) -> None:
    """Receivers in KPROXY_RECEIVERS are shown no more than those of a file, right or wrong."""
    cluster = {"KPROXY_BOOTSTRAP_SERVERS": "a:1", "KPROXY_LISTEN": f"{HOST}:9092"}
    good = yaml.safe_dump(_settings(planted)["receivers"])
    assert _run(planted, "config", "show", **cluster, KPROXY_RECEIVERS=good).returncode == 0
    for wrong in (
        planted.secret(),
        f"https://user:{planted.secret()}@collector/?token={planted.secret()}",
        f"[{planted.secret()}]",
        f"{{token: {planted.secret()}",
        f"[{{name: x, type: otlp, headers: !{planted.secret()} y}}]",
    ):
        assert _run(planted, "config", "show", **cluster, KPROXY_RECEIVERS=wrong).returncode == 2
    identity = {"KPROXY_IDENTITY__MECHANISM": "PLAIN", "KPROXY_IDENTITY__USERNAME": "kproxy"}
    for password, code in ((planted.secret(), 0), (f"{planted.secret()}\n{planted.secret()}", 2)):
        found = _run(planted, "config", "show", **cluster, **identity, KPROXY_IDENTITY__PASSWORD=password)
        assert found.returncode == code
    assert _run(planted, "config", "show", **cluster, KPROXY_IDENTITY=planted.secret()).returncode == 2
    for url in (f"http://user:{planted.secret()}@{HOST}:1/?token={planted.secret()}", f"user:{planted.secret()}@h:1"):
        assert _run(planted, "clusters", KPROXY_ADMIN_URL=url).returncode == 2
