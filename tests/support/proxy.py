"""kproxy as users run it: a process with flags or a file, asked over HTTP, ended with SIGTERM."""

from __future__ import annotations

import http.client
import json
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from kproxy.local_kafka.ports import free_port, free_ports
from kproxy.local_kafka.processes import kill_group, spawn
from tests.support import proc
from tests.support.violation import check_behind, check_log, never
from tests.support.wait import until

HOST = "127.0.0.1"
NODE_PORTS = 16
DRAIN_SECONDS = 10
_SLOW_SECONDS = 30
KPROXY = str(Path(sys.executable).with_name("kproxy"))
Servers = str | Mapping[str, str]
"""The bootstrap servers of a virtual cluster's backend, or of several upstreams, by name, in order."""
Setting = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The value of one of the file's top-level keys."""
_SAMPLE = re.compile(r"^(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


class Proxy:
    """A kproxy process in front of the named clusters.

    As a context manager it is ready inside, and at the end it must drain: exit code 0 within the deadline, no
    child left. A test that ends it otherwise calls `stop`, `kill` or `wait` itself. Its log is looked at in any case
    (`looks`): a traceback in it is what a test fails with, whatever else has failed.
    `each` are settings of every virtual cluster, `own` those of one, by its name, `settings` those of the process.
    `program` is the command kproxy.
    """

    def __init__(
        self,
        directory: Path,
        bootstrap_servers: Mapping[str, Servers],
        *,
        program: Sequence[str] = (KPROXY,),
        command: Sequence[str] | None = None,
        each: Mapping[str, Any] | None = None,
        own: Mapping[str, Mapping[str, Any]] | None = None,
        **settings: Setting,
    ) -> None:
        self.directory = directory
        self.ports = {name: free_ports(NODE_PORTS) for name in bootstrap_servers}
        self.admin_port = free_port()
        self.admin_tls: ssl.SSLContext | None = None
        """What the admin port is asked by; None for plain HTTP."""
        self.log = directory / f"kproxy-{self.admin_port}.log"
        self.config = directory / f"kproxy-{self.admin_port}.yaml"
        self._each, self._own = each or {}, own or {}
        self._command = command or [*program, "serve", "--config", str(self._configure(bootstrap_servers, settings))]
        self._process: subprocess.Popen[bytes] | None = None
        self.looks: list[Callable[[str], object]] = []
        """What its log is looked through by at the end, beside `check_log`; each raises Violation."""

    @classmethod
    def of_flags(cls, directory: Path, bootstrap_servers: str) -> Self:
        """`kproxy serve` without a file."""
        proxy = cls(directory, {"default": bootstrap_servers})
        listen, admin = f"{HOST}:{proxy.ports['default'][0]}", f"{HOST}:{proxy.admin_port}"
        flags = ["--bootstrap-servers", bootstrap_servers, "--listen", listen, "--admin", admin]
        proxy._command = [KPROXY, "serve", *flags]
        return proxy

    def bootstrap(self, cluster: str | None = None) -> str:
        """Return `host:port` at which clients bootstrap; of the first virtual cluster, if none is named."""
        return f"{HOST}:{self.port(cluster)}"

    def port(self, cluster: str | None = None) -> int:
        """The bootstrap port."""
        return self.ports[cluster or next(iter(self.ports))][0]

    def cluster_names(self) -> list[str]:
        """Return the virtual clusters' names, from the API."""
        return [shown["name"] for shown in self.get_json("/api/v1/clusters")["clusters"]]

    def node_ports(self, cluster: str = "kafka") -> dict[int, int]:
        """Return the advertised port of each node, from the API."""
        for shown in self.get_json("/api/v1/clusters")["clusters"]:
            if shown["name"] == cluster:
                return {node["node_id"]: int(node["advertised"].rpartition(":")[2]) for node in shown["nodes"]}
        raise AssertionError(f"no cluster {cluster} in /api/v1/clusters")

    @property
    def pid(self) -> int:
        """The process id; it must have been started."""
        assert self._process is not None
        return self._process.pid

    def launch(self) -> None:
        """Spawn it, and do not wait."""
        self._process = spawn(self._command, self.log)

    def start(self) -> None:
        """Spawn it and wait until /readyz says ready."""
        self.launch()
        until(lambda: (self.exited is None and self.ready) or self._died(), "kproxy ready", timeout=20, every=0.02)

    @property
    def exited(self) -> int | None:
        """The exit code, or None while it runs."""
        assert self._process is not None
        return self._process.poll()

    @property
    def ready(self) -> bool:
        """Whether /readyz answers 200."""
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def get(self, path: str) -> tuple[int, bytes]:
        """Status and body of a GET on the admin port."""
        connection = self._admin(timeout=20)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def with_admin_tls(self, chain: Path, key: Path) -> None:
        """Have the admin port speak TLS with this certificate, which signs itself; call it before the start."""
        config = yaml.safe_load(self.config.read_text())
        config["admin"]["tls"] = {"certificate": str(chain), "key": str(key)}
        self.config.write_text(yaml.safe_dump(config))
        self.admin_tls = ssl.create_default_context(cafile=str(chain))

    def _admin(self, timeout: float) -> http.client.HTTPConnection:
        if self.admin_tls is None:
            return http.client.HTTPConnection(HOST, self.admin_port, timeout=timeout)
        return http.client.HTTPSConnection(HOST, self.admin_port, timeout=timeout, context=self.admin_tls)

    def get_json(self, path: str) -> Any:
        """The JSON body of a GET on the admin port."""
        return json.loads(self.get(path)[1])

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        """Status and JSON body of a POST to the admin port."""
        connection = self._admin(timeout=20)
        try:
            spoken = None if body is None else json.dumps(body)
            connection.request("POST", path, spoken, {} if body is None else {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def fail_over(self, cluster: str, to: str, *, force: bool = False) -> dict[str, Any]:
        """Switch a virtual cluster to another upstream; return kproxy's answer.

        As an operator would, it asks again while a cluster on a busy machine takes too long to say what it has.
        """
        path, asked = f"/api/v1/clusters/{cluster}/failover", {"to": to, "force": force}
        deadline = time.monotonic() + _SLOW_SECONDS
        status, said = self.post(path, asked)
        while status == HTTPStatus.CONFLICT and "did not say within" in said["error"] and time.monotonic() < deadline:
            status, said = self.post(path, asked)
        assert status == HTTPStatus.OK, f"failover of {cluster} to {to}: {status} {said}"
        return dict(said)

    def rebootstrap(self, cluster: str) -> dict[str, Any]:
        """Make a virtual cluster's clients rebootstrap; return kproxy's answer."""
        status, said = self.post(f"/api/v1/clusters/{cluster}/rebootstrap")
        assert status == 200, f"rebootstrap of {cluster}: {status} {said}"
        return dict(said)

    def samples(self) -> list[tuple[str, dict[str, str], float]]:
        """Every sample of every metric: its name, its labels and its value."""
        lines = self.get("/metrics")[1].decode().splitlines()
        samples = filter(None, map(_SAMPLE.match, lines))
        return [(one["name"], dict(_LABEL.findall(one["labels"] or "")), float(one["value"])) for one in samples]

    def metric(self, name: str, **labels: str) -> float:
        """The sum of all samples of a metric that have these labels; 0.0 when there is none."""
        found = (one for one in self.samples() if one[0] == name)
        return sum((value for _, has, value in found if labels.items() <= has.items()), 0.0)

    def logged(self, **fields: str) -> list[dict[str, Any]]:
        """The JSON log lines that have these fields."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if fields.items() <= line.items()]

    def told(self, reason: str) -> int:
        """How many ends of connections with this reason the log has: in lines of their own, and in sums."""
        sums = self.logged(event="lines left out", of="connection ended", reason=reason)
        return len(self.logged(event="connection ended", reason=reason)) + sum(int(each["lines"]) for each in sums)

    @property
    def rss(self) -> int:
        """Resident memory in bytes."""
        return proc.rss_bytes(self.pid)

    def signal(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to the process alone."""
        assert self._process is not None
        self._process.send_signal(number)

    def reload(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the configuration file and have kproxy read it again (SIGHUP)."""
        config = yaml.safe_load(self.config.read_text())
        change(config)
        self.config.write_text(yaml.safe_dump(config))
        self.signal(signal.SIGHUP)

    def wait(self, timeout: float = DRAIN_SECONDS + 30) -> int:
        """Wait for its end; the exit code."""
        assert self._process is not None
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"kproxy still runs after {timeout:.0f} s:\n{self.tail()}") from None

    def stop(self) -> None:
        """SIGTERM, and check that it ends as it should."""
        before = proc.family(self.pid)
        self.signal()
        try:
            code = self.wait()
        finally:
            check_log(self.log)
        assert code == 0, f"kproxy ended with exit code {code}:\n{self.tail()}"
        assert not [pid for pid in before if Path(f"/proc/{pid}").exists()], "kproxy left a process behind"

    def kill(self) -> None:
        """SIGKILL, if it still runs."""
        if self._process is not None:
            kill_group(self._process)

    def tail(self, length: int = 3000) -> str:
        """How the log ends."""
        return self.log.read_text(errors="replace")[-length:]

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException as error:
            self.kill()
            check_behind(error, self._look)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        failed = error
        try:
            if error is None and self.exited is None:
                self.stop()
        except BaseException as failure:
            failed = failure
            raise
        finally:
            self.kill()
            check_behind(failed, self._look)

    def hides(self, secret: str, what: str) -> None:
        """Have its log looked through for a secret at the end."""
        self.looks.append(lambda text: never(secret in text, f"kproxy's log shows {what}"))

    def _look(self) -> None:
        check_log(self.log)
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        for look in self.looks:
            look(text)

    def _died(self) -> bool:
        assert self.exited is None, f"kproxy ended with exit code {self.exited}:\n{self.tail()}"
        return False

    def _configure(self, servers: Mapping[str, Servers], settings: Mapping[str, Setting]) -> Path:
        clusters = [
            {
                "name": name,
                **_backends(servers[name]),
                "listen": f"{HOST}:{ports[0]}",
                **self._each,
                **self._own.get(name, {}),
            }
            for name, ports in self.ports.items()
        ]
        config = {
            "clusters": clusters,
            "admin": {"listen": f"{HOST}:{self.admin_port}"},
            "drain": {"deadline": f"{DRAIN_SECONDS}s"},
            "log": {"format": "json", "level": "info"},
            **settings,
        }
        self.config.write_text(yaml.safe_dump(config))
        return self.config


def _backends(servers: Servers) -> dict[str, Any]:
    if isinstance(servers, str):
        return {"bootstrap_servers": servers}
    return {"upstreams": [{"name": name, "bootstrap_servers": one} for name, one in servers.items()]}
