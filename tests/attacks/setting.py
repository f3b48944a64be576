"""The kproxy under attack, as a process of a given build, with its brokers and what is asked of it from outside."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from kproxy.authentication.users import DEFAULT_ITERATIONS
from kproxy.authentication.users_file import add
from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from kproxy.local_kafka.ports import free_port, free_ports
from kproxy.local_kafka.processes import kill_group
from tests.bench.helper import Helper
from tests.bench.process import wait_serving
from tests.bench.targets import ready
from tests.support.authority import Authority, Certificate
from tests.support.proc import threads
from tests.support.raw import HOST

from .attack import Attack
from .logins import HEALTHY

ATTACKED, BESIDE = 1, 2
"""The nodes: the attacker's requests go to the first one's broker, the healthy client's to the other's."""
_NODE_PORTS: Final = 8
_TETHER: Final = Path(__file__).parents[2] / "kproxy" / "local_kafka" / "tether.py"
_PRIORITY: Final = 10
_NICE: Final = -15
_EVERYTHING: Final = {"interval": 0.1, "subscriptions": [{"name": "everything", "metrics": "*"}]}


@dataclass(frozen=True, slots=True)
class Setting:
    """A kproxy that is ready. `port` is its bootstrap port, `beside_port` that of the node of the healthy client."""

    process: subprocess.Popen[bytes]
    port: int
    beside_port: int
    admin_port: int
    log: Path
    authority: Path | None = None
    """That of kproxy's certificate, where it speaks TLS."""
    login: tuple[str, str] | None = None
    """The healthy client's name and password, where clients authenticate to kproxy."""

    @property
    def tls(self) -> ssl.SSLContext | None:
        """What a client needs that speaks TLS."""
        return None if self.authority is None else ssl.create_default_context(cafile=self.authority)

    @property
    def alive(self) -> bool:
        """Whether the process lives."""
        return self.process.poll() is None

    def get(self, path: str, timeout: float = 30) -> tuple[int, bytes]:
        """Return status and body of a page of the admin port."""
        connection = http.client.HTTPConnection(HOST, self.admin_port, timeout=timeout)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def upstream(self) -> str:
        """Return the name of the upstream that is active."""
        shown = json.loads(self.get("/api/v1/clusters")[1])["clusters"][0]
        return next(str(one["name"]) for one in shown["upstreams"] if one["active"])


@contextmanager
def brokers(
    cluster_id: str = "attacked", node_ids: Sequence[int] = (ATTACKED, BESIDE)
) -> Iterator[tuple[dict[int, int], list[Helper]]]:
    """Run a broker process for each node; yield the ports and the processes, in the order of the nodes."""
    ports = {node_id: free_port() for node_id in node_ids}
    nodes = [f"{node_id}:{port}" for node_id, port in ports.items()]
    with ExitStack() as stack:
        started = [
            stack.enter_context(closing(Helper("broker", "tests.attacks.broker", cluster_id, str(node_id), *nodes)))
            for node_id in node_ids
        ]
        for broker in started:
            broker.answer()
        yield ports, started


Real = tuple[str, int]
"""A real Kafka's bootstrap servers and its process id."""


@contextmanager
def kafka() -> Iterator[Real]:
    """Run a real Kafka of one node, the healthy client's."""
    with Cluster(jars.KAFKA_4_3, (BESIDE,), options=()) as cluster:
        yield cluster.bootstrap, cluster.brokers[BESIDE].pid


@contextmanager
def setting(program: Path, directory: Path, attack: Attack, upstreams: Mapping[str, str]) -> Iterator[Setting]:
    """Run kproxy in front of the upstreams (name and bootstrap servers), as the attack wants it, until the end."""
    listen, admin = free_ports(_NODE_PORTS)[0], free_port()
    config, log = directory / f"{admin}.yaml", directory / f"{admin}.log"
    authority = Authority(directory, f"ca-{admin}") if attack.tls else None
    own: dict[str, Any] = {} if authority is None else {"tls": _shown(authority.signed(f"kproxy-{admin}"))}
    if attack.logins:
        own["authentication"] = _known(directory / f"{admin}.users")
    config.write_text(yaml.safe_dump(_config(attack, upstreams, listen, admin, own)))
    command = [str(program), "serve", "--config", str(config)]
    if attack.files is not None:
        command = ["sh", "-c", f'ulimit -n {attack.files} && exec "$0" "$@"', *command]
    process = _spawned(command, log, unread=attack.unread)
    try:
        wait_serving(process, lambda: ready((HOST, admin)), "kproxy", log)
        yield Setting(
            process,
            listen,
            _node_port(admin),
            admin,
            log,
            None if authority is None else authority.file,
            HEALTHY if attack.logins else None,
        )
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(3)
        kill_group(process)
        if process.stderr is not None:
            process.stderr.close()


def _spawned(command: Sequence[str], log: Path, *, unread: bool) -> subprocess.Popen[bytes]:
    """Start a process that dies with this one. Its output goes to the log, or into a pipe that nobody reads."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE if unread else out,
            process_group=0,
        )


def _shown(certificate: Certificate) -> dict[str, str]:
    return {"certificate": str(certificate.chain), "key": str(certificate.key)}


def _known(users: Path) -> dict[str, Any]:
    """Write the file of users, which has the healthy client alone; return the settings of authentication."""
    add(users, *HEALTHY, ["SCRAM-SHA-512"], DEFAULT_ITERATIONS)
    offered = {"mechanisms": ["PLAIN", "SCRAM-SHA-512"], "users_file": str(users)}
    return {**offered, "dangerously_accept_secrets_without_tls": True}


def _config(
    attack: Attack, upstreams: Mapping[str, str], listen: int, admin: int, own: Mapping[str, Any]
) -> dict[str, Any]:
    cluster: dict[str, Any] = {"name": "attacked", "listen": f"{HOST}:{listen}", "telemetry": _EVERYTHING}
    if attack.upstreams:
        cluster["upstreams"] = [{"name": name, "bootstrap_servers": one} for name, one in upstreams.items()]
    else:
        cluster["bootstrap_servers"] = next(iter(upstreams.values()))
    return {
        "admin": f"{HOST}:{admin}",
        "clusters": [{**cluster, **own, **attack.cluster}],
        "receivers": [{"name": "scrape", "type": "prometheus"}],
        **attack.settings,
    }


def _node_port(admin: int) -> int:
    """Return the port at which kproxy advertises the healthy client's node: the last one, if there are several."""
    connection = http.client.HTTPConnection(HOST, admin, timeout=10)
    with closing(connection):
        connection.request("GET", "/api/v1/clusters")
        (shown,) = json.loads(connection.getresponse().read())["clusters"]
    advertised = max((node["node_id"], node["advertised"]) for node in shown["nodes"])[1]
    return int(advertised.rpartition(":")[2])


def place(kproxy: int, preferred: Sequence[int], others: Sequence[int]) -> None:
    """Give kproxy the first processor and all others the rest; run the preferred ones before all others.

    Every process of the attack also runs before what else the machine does. On a machine with one processor nothing is
    divided, and priority is given where it is permitted.
    """
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) > 1:
        for pid, chosen in ((kproxy, processors[:1]), *((pid, processors[1:]) for pid in (*preferred, *others))):
            for thread in threads(pid):
                with suppress(ProcessLookupError):
                    os.sched_setaffinity(thread, chosen)
    for pid in (kproxy, *others):
        for thread in threads(pid):
            with suppress(PermissionError, ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, thread, _NICE)
    for pid in preferred:
        for thread in threads(pid):
            with suppress(PermissionError, ProcessLookupError):
                os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(_PRIORITY))
