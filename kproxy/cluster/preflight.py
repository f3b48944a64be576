"""Checks where a configuration leads: polls every upstream cluster once, and finds the nodes without a port.

Runs for `kproxy config check --connect` only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

import trio

from kproxy.cluster.security import broker_context
from kproxy.cluster.upstreams import Upstream
from kproxy.errors import UpstreamError
from kproxy.routing.places import NodePlaces
from kproxy.routing.ports import claimed_by_others
from kproxy.routing.strategy import strategy_of, unmapped
from kproxy.upstream.presented import Presented, presented, speaks_tls

if TYPE_CHECKING:
    from kproxy.config import Config
    from kproxy.config.address import HostPort
    from kproxy.config.cluster import VirtualCluster
    from kproxy.config.upstreams import Upstream as Settings
    from kproxy.topology.snapshot import Change, Snapshot

_SECONDS: Final = 5.0
"""For one handshake with a bootstrap server."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found at one upstream of a virtual cluster: its nodes' ids, and its problems in readable lines.

    `servers` are its bootstrap servers, where they are to speak TLS.
    """

    cluster: str
    upstream: str
    nodes: Sequence[int] = ()
    problems: Sequence[str] = ()
    servers: Sequence[Presented] = ()

    @property
    def is_fit(self) -> bool:
        """True when kproxy can work with the upstream."""
        return not self.problems and not any(server.problems for server in self.servers)


async def findings(config: Config) -> Sequence[Finding]:
    """Ask all upstreams at once, for 10 s at most, and change nothing. Findings have the configuration's order."""
    asked = [(index, backend) for index, cluster in enumerate(config.clusters) for backend in cluster.backends]
    found: dict[int, Finding] = {}

    async def ask(number: int) -> None:
        found[number] = await _finding(config, *asked[number])

    async with trio.open_nursery() as nursery:
        for number in range(len(asked)):
            nursery.start_soon(ask, number)
    return [found[number] for number in range(len(asked))]


async def _finding(config: Config, index: int, backend: Settings) -> Finding:
    settings = config.clusters[index]
    cluster, tls = settings.name, broker_context(settings, backend)
    upstream = Upstream(backend, config, cluster, tls, _is_not_followed, _is_not_probed)
    servers = await _presented(settings, backend)
    try:
        snapshot = await upstream.look()
    except UpstreamError as error:
        problems = [str(error), *await _hidden_tls(backend)]
        return Finding(cluster, upstream.name, (), problems, servers)
    nodes = list(snapshot.nodes)
    problems = [str(problem) for problem in unmapped(_places(config, index), nodes)]
    return Finding(cluster, upstream.name, nodes, problems, servers)


async def checked(config: Config) -> tuple[Sequence[Finding], Sequence[str]]:
    """Ask upstreams and issuers at once; return what is found, and a line for each issuer whose keys cannot be had."""
    asked: list[Sequence[Finding]] = []
    problems: dict[str, str] = {}

    async def ask() -> None:
        asked.append(await findings(config))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        for cluster in config.clusters:
            nursery.start_soon(_seek_keys, cluster, problems)
    lines = (problems[cluster.name] for cluster in config.clusters if cluster.name in problems)
    return asked[0], list(lines)


async def _seek_keys(cluster: VirtualCluster, problems: dict[str, str]) -> None:
    """Note why the keys of a virtual cluster's issuer cannot be had from their URL, where they are at one."""
    tokens = None if cluster.authentication is None else cluster.authentication.oauthbearer
    if tokens is None or tokens.jwks_url is None:
        return
    from kproxy.authentication.jwks import TokenVerifier  # noqa: PLC0415 (cryptography: 12 MiB)

    if problem := await TokenVerifier(tokens).problem():
        problems[cluster.name] = f"clusters.{cluster.name}.authentication.oauthbearer.jwks_url: {problem}"


async def _presented(settings: VirtualCluster, backend: Settings) -> Sequence[Presented]:
    """Return what each bootstrap server presents, in order; nothing without TLS."""
    if backend.tls is None:
        return ()
    tls, found = backend.tls, dict[int, Presented]()
    key = f"clusters.{settings.name}.{backend.name}.tls"

    async def ask(number: int, server: HostPort) -> None:
        found[number] = await trio.to_thread.run_sync(presented, server.host, server.port, tls, key, _SECONDS)

    async with trio.open_nursery() as nursery:
        for number, server in enumerate(backend.bootstrap_servers):
            nursery.start_soon(ask, number, server)
    return [found[number] for number in sorted(found)]


async def _hidden_tls(backend: Settings) -> Sequence[str]:
    """Return a line for each server that speaks TLS where kproxy is to speak plaintext."""
    if backend.tls is not None:
        return ()
    speaking = [
        str(server)
        for server in backend.bootstrap_servers
        if await trio.to_thread.run_sync(speaks_tls, server.host, server.port, _SECONDS)
    ]
    return [f"{server} speaks TLS: set `upstream_tls`, or `tls` of this upstream" for server in speaking]


def _places(config: Config, index: int) -> NodePlaces:
    cluster = config.clusters[index]
    return strategy_of(cluster, cluster.listen.port, claimed_by_others(config, index))


def _is_not_followed(snapshot: Snapshot, change: Change) -> NoReturn:
    raise AssertionError(f"a cluster that is looked at once has changed: {snapshot} {change}")


def _is_not_probed(node_id: int, ok: bool, error: str | None) -> NoReturn:
    raise AssertionError(f"node {node_id} of a cluster that is looked at once was probed: {ok} {error}")
