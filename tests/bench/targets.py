"""What clients connect to: the brokers themselves, HAProxy in TCP mode, kproxy, kproxy with its relay compiled."""

from __future__ import annotations

import http.client
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster
from kproxy.local_kafka.ports import free_port, free_ports
from tests.support.authority import Authority
from tests.support.proc import family_cpu_seconds

from .process import Address, BenchError, accepts, rss_kib, running, wait_serving

DIRECT: Final = "direct"
HAPROXY: Final = "haproxy"
KPROXY: Final = "kproxy"
COMPILED: Final = "kproxy-compiled"
BEFORE: Final = "kproxy-before"
"""The build of another commit."""

_ROOT: Final = Path(__file__).parents[2]
_COMPILED_VENV: Final = _ROOT / "build" / "compiled" / "venv"

_HAPROXY_CONFIG: Final = """\
global
    nbthread 1
    maxconn {connections}  # and no more: HAProxy does not start when its files might not suffice
defaults
    mode tcp
    timeout connect 10s
    timeout client 10m
    timeout server 10m
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A target for Kafka requests; without a process, clients talk to the brokers directly."""

    name: str
    addresses: Sequence[Address]
    pid: int | None = None
    rss_at_start: float = 0
    ca: str = ""
    """The file of the authority that clients trust, where they speak TLS to it."""

    @property
    def bootstrap(self) -> str:
        """`host:port,...` for a client."""
        return ",".join(f"{host}:{port}" for host, port in self.addresses)

    def cpu(self) -> float:
        """CPU seconds that the proxy has taken so far; 0 without a proxy."""
        return family_cpu_seconds(self.pid) if self.pid is not None else 0.0


def direct(cluster: Cluster) -> Target:
    """The brokers' own listeners."""
    return Target(DIRECT, [(HOST, broker.port) for broker in cluster.brokers.values()])


def haproxy_binary() -> str | None:
    """Return HAProxy's program: Debian puts it where only root's PATH looks."""
    return shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")


def haproxy_version() -> str | None:
    """Return the version that HAProxy reports, or None without HAProxy."""
    binary = haproxy_binary()
    if binary is None:
        return None
    return subprocess.run([binary, "-v"], capture_output=True, text=True, check=True).stdout.split()[2]


@contextmanager
def haproxy(
    cluster: Cluster, directory: Path, connections: int, authority: Authority | None = None
) -> Iterator[Target]:
    """HAProxy with one thread, as kproxy has one, and a listener for each broker, which advertises it.

    With an authority it terminates TLS.
    """
    binary = haproxy_binary()
    if binary is None:
        raise BenchError("haproxy is not installed")
    brokers = cluster.brokers.values()
    tls = "" if authority is None else f" ssl crt {authority.signed(HAPROXY).both}"
    listeners = [
        f"listen broker_{broker.node_id}\n"
        f"    bind {HOST}:{broker.front_advertised_port}{tls}\n"
        f"    server broker {HOST}:{broker.front_port}\n"
        for broker in brokers
    ]
    fronts = [(HOST, broker.front_advertised_port) for broker in brokers]
    config, log = directory / "haproxy.cfg", directory / "haproxy.log"
    config.write_text(_HAPROXY_CONFIG.format(connections=connections + 20) + "".join(listeners))
    with running([binary, "-db", "-f", str(config)], log) as process:
        wait_serving(process, lambda: all(accepts(front) for front in fronts), "haproxy", log)
        yield Target(HAPROXY, fronts, process.pid, rss_kib(process.pid), _trusted(authority))


def program() -> Path:
    """This environment's kproxy."""
    return Path(sys.executable).with_name("kproxy")


def compiled_program() -> Path | None:
    """Return the kproxy that `make compiled` made of these sources, or None.

    Raises BenchError for a build of other sources, whose figures would be taken for these.
    """
    compiled = _COMPILED_VENV / "bin" / "kproxy"
    if not compiled.exists():
        return None
    (package,) = _COMPILED_VENV.glob("lib/python*/site-packages/kproxy")
    if _sources(package) != _sources(_ROOT / "kproxy"):
        raise BenchError(f"{_COMPILED_VENV.relative_to(_ROOT)} is of other sources, so it was left out: make compiled")
    return compiled


def _sources(package: Path) -> dict[Path, bytes]:
    return {path.relative_to(package): path.read_bytes() for path in package.rglob("*.py")}


def kproxy_command(bootstrap_servers: str, program: Path) -> tuple[list[str], Address, Address]:
    """Return the command of `kproxy serve` on free ports, its bootstrap address and its admin address."""
    listen, admin = (HOST, free_ports(8)[0]), (HOST, free_port())  # a port for each node follows the first
    options = ["--listen", f"{HOST}:{listen[1]}", "--admin", f"{HOST}:{admin[1]}"]
    return [str(program), "serve", "--bootstrap-servers", bootstrap_servers, *options], listen, admin


def ready(admin: Address) -> bool:
    """True when kproxy's /readyz answers 200."""
    connection = http.client.HTTPConnection(*admin, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def kproxy(
    cluster: Cluster, directory: Path, name: str, program: Path, authority: Authority | None = None
) -> Iterator[Target]:
    """`kproxy serve` as a user starts it, without a file; with an authority it speaks TLS to clients."""
    command, listen, admin = kproxy_command(cluster.bootstrap, program)
    if authority is not None:
        own = authority.signed(name)
        command = ["env", f"KPROXY_TLS__CERTIFICATE={own.chain}", f"KPROXY_TLS__KEY={own.key}", *command]
    log = directory / f"{name}.log"
    with running(command, log) as process:
        wait_serving(process, lambda: ready(admin), name, log)
        yield Target(name, [listen], process.pid, rss_kib(process.pid), _trusted(authority))


def _trusted(authority: Authority | None) -> str:
    return "" if authority is None else str(authority.file)
