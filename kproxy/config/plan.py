"""The table that `kproxy config check` prints: the listeners of a configuration and the addresses that it advertises.

`notes` adds hints about settings that have surprising effects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kproxy.config.address import MAX_PORT, HostPort, is_loopback, join_host_port
from kproxy.config.cluster import VirtualCluster
from kproxy.config.models import Config
from kproxy.config.nodes import Claim, room


@dataclass(frozen=True, slots=True)
class Line:
    """One listener, or one run of ports: its virtual cluster, purpose, address and advertised address.

    It may also be a further backend, for failover: nothing listens for it.
    """

    cluster: str
    purpose: str
    listens: str
    advertised: str
    backend: str = ""


def plan(config: Config) -> Iterator[Line]:
    """Yield every listener in the configuration's order; the admin listener last."""
    claims = config.claims()
    for index, cluster in enumerate(config.clusters):
        first, *others = _backends(cluster)
        yield Line(cluster.name, "bootstrap", _listener(cluster.listen), _bootstrap(cluster), first)
        yield from (Line(cluster.name, "failover", "", "", other) for other in others)
        if cluster.nodes.pattern:
            yield Line(cluster.name, "nodes", _listener(cluster.listen), _named(cluster, cluster.nodes.pattern))
        elif cluster.nodes.ranges:
            yield from _ranges(cluster)
        else:
            claim = next(c for c in claims if c.path[:3] == ("clusters", index, "nodes"))
            yield _open(cluster, claim, room(claim, claims))
    if config.admin:
        yield Line("", "admin", _listener(config.admin.listen), "")


def _bootstrap(cluster: VirtualCluster) -> str:
    """Return where clients bootstrap, if only a name leads there."""
    names = cluster.server_names
    return "" if names is None else _named(cluster, names.bootstrap)


def _named(cluster: VirtualCluster, name: str) -> str:
    port = cluster.nodes.advertised_port or cluster.listen.port
    return join_host_port(name, port or "any free port")


def _backends(cluster: VirtualCluster) -> list[str]:
    """Return the servers of each upstream, with its name when `upstreams` gives one."""
    servers = {upstream.name: ", ".join(map(str, upstream.bootstrap_servers)) for upstream in cluster.backends}
    return [f"{name}: {addresses}" for name, addresses in servers.items()] if cluster.upstreams else [*servers.values()]


def _ranges(cluster: VirtualCluster) -> Iterator[Line]:
    port = cluster.first_port
    for ids in cluster.nodes.ranges:
        last = port + len(ids) - 1
        shift = _shift(cluster)
        yield Line(
            cluster.name,
            f"node {ids.first}" if len(ids) == 1 else f"nodes {ids}",
            join_host_port(cluster.listen.host, _run(port, last)),
            join_host_port(_advertised_host(cluster), _run(port + shift, last + shift)),
        )
        port = last + 1


def _open(cluster: VirtualCluster, claim: Claim, space: int | None) -> Line:
    """Return the line of nodes without ranges: from the first port up, as many as there are."""
    if not claim.first:
        return Line(
            cluster.name,
            "nodes",
            join_host_port(cluster.listen.host, "any free ports"),
            f"{_advertised_host(cluster)}, the same ports",
        )
    advertised, by_id = claim.first + _shift(cluster), cluster.nodes.strategy == "offset"
    upwards = " + node id" if by_id else " and up"
    limit = f" (below {claim.first + space})" if space is not None else ""
    listens = join_host_port(cluster.listen.host, f"{claim.first}{upwards}{limit}")
    return Line(cluster.name, "nodes", listens, join_host_port(_advertised_host(cluster), f"{advertised}{upwards}"))


def _shift(cluster: VirtualCluster) -> int:
    """Return what to add to a port that kproxy listens on to get the advertised port."""
    advertised = cluster.nodes.advertised_first_port
    return 0 if advertised is None else advertised - cluster.first_port


def _advertised_host(cluster: VirtualCluster) -> str:
    return cluster.advertised_host or "<address the client reached>"


def _listener(listen: HostPort) -> str:
    return str(listen) if listen.port else join_host_port(listen.host, "any free port")


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def notes(config: Config) -> Iterator[str]:
    """Yield hints about settings with surprising effects as `key: hint`, in the configuration's order."""
    for cluster in config.clusters:
        if len(cluster.backends) > 1 and cluster.nodes.strategy == "offset":
            yield f"clusters.{cluster.name}.nodes: {_covered(cluster)}"
        yield from _in_the_clear(cluster)
        if cluster.telemetry is not None and not config.receivers_of(cluster):
            yield f"clusters.{cluster.name}.telemetry: has no receiver: what clients push is taken and dropped"
        yield from _unsafe(cluster)
        yield from _logins(cluster)
        if cluster.faults.enabled:
            yield f"clusters.{cluster.name}.faults: faults are injected into what clients get: never in production"
        if cluster.groups and config.state.path is None:
            hint = "without state.path a restart forgets the members, and they join again"
            yield f"clusters.{cluster.name}.groups: {hint}"
    yield from _token_endpoints(config)
    admin = config.admin
    if admin and admin.token_file and admin.tls is None and not is_loopback(admin.listen.host):
        yield "admin: the token can be read by whoever can read the connection to the port; set admin.tls"
    served = {receiver.name for cluster in config.clusters for receiver in config.receivers_of(cluster)}
    for receiver in config.receivers:
        if receiver.name not in served:
            yield f"receivers.{receiver.name}: no virtual cluster's telemetry goes there"
        elif receiver.type == "prometheus" and config.admin is None:
            yield f"receivers.{receiver.name}: there is no admin port to serve /metrics/clients"


def _logins(cluster: VirtualCluster) -> Iterator[str]:
    asked = cluster.authentication
    if asked is None:
        return
    key = f"clusters.{cluster.name}"
    unknown = [
        one.name for one in cluster.backends if one.identity is None and (one.tls is None or not one.tls.certificate)
    ]
    if unknown:
        hint = "has neither an identity nor a certificate: brokers that ask who it is take no client from it"
        yield f"{key}.authentication: kproxy {hint} ({', '.join(unknown)})"
    if asked.dangerously_accept_secrets_without_tls and cluster.tls is None:
        yield f"{key}.authentication: whoever is on the way can read passwords and tokens"


def _unsafe(cluster: VirtualCluster) -> Iterator[str]:
    for upstream in cluster.backends:
        if upstream.tls is None:
            continue
        key = f"clusters.{cluster.name}.{upstream.name}.tls"
        if upstream.tls.dangerously_accept_any_certificate:
            yield f"{key}: accepts any certificate: whoever is on the way can read and change everything"
        elif upstream.tls.dangerously_accept_any_host_name:
            yield f"{key}: accepts any host name: whoever has a certificate of a trusted authority can pose as a broker"


def _token_endpoints(config: Config) -> Iterator[str]:
    for key, identity in config.identities:
        grant = identity.client_credentials
        if grant is not None and grant.endpoint.is_readable:
            yield f"{key}.client_credentials: whoever is on the way to {grant.endpoint.where} can read secret and token"


def _in_the_clear(cluster: VirtualCluster) -> Iterator[str]:
    """Yield a note for each upstream whose servers are sent kproxy's secret so that others on the way can read it."""
    for upstream in cluster.backends:
        far = [server for server in upstream.bootstrap_servers if not is_loopback(server.host)]
        if upstream.identity is not None and upstream.identity.is_readable and upstream.tls is None and far:
            where = f"upstreams.{upstream.name}.identity" if cluster.upstreams else "identity"
            secret = "the password" if upstream.identity.mechanism == "PLAIN" else "the token"
            hint = f"{upstream.identity.mechanism} without TLS shows {secret} to whoever can read the connection to"
            yield f"clusters.{cluster.name}.{where}: {hint} {far[0]}"


def _covered(cluster: VirtualCluster) -> str:
    """Say which node ids have ports: the upstreams' actual nodes are unknown until they are asked."""
    ranges = [str(ids.first) if len(ids) == 1 else str(ids) for ids in cluster.nodes.ranges]
    covered = ", ".join(ranges) or f"0-{MAX_PORT - cluster.first_port}"
    names = ", ".join(upstream.name for upstream in cluster.backends)
    return f"there are ports for the node ids {covered}: all nodes of {names} must be among them (--connect asks them)"
