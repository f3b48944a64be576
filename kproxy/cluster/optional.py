"""The parts of a virtual cluster that not every one has: each is made, and its modules are imported, where it is set.

`Cluster` calls these when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kproxy.agreement.place import Place
    from kproxy.cluster.agreement import Agreement
    from kproxy.cluster.fault_injection import FaultInjection
    from kproxy.cluster.upstreams import Upstream
    from kproxy.config import Config, VirtualCluster
    from kproxy.config.delivery import ToTopic
    from kproxy.coordinator.hosted_groups import HostedGroups
    from kproxy.observe.counters import ClusterCounters
    from kproxy.observe.events import Report
    from kproxy.observe.troubles import Troubles
    from kproxy.protocol.connections import Connections
    from kproxy.telemetry.client_telemetry import ClientTelemetry
    from kproxy.upstream.client import UpstreamClient


def client_telemetry(
    settings: VirtualCluster,
    index: int,
    config: Config,
    connected: Callable[[ToTopic], UpstreamClient],
    troubles: Troubles,
) -> ClientTelemetry | None:
    """Return what serves telemetry of clients. Raises `ConfigError`: only its libraries can check some settings."""
    if settings.telemetry is None:
        return None
    from kproxy.telemetry.client_telemetry import ClientTelemetry  # noqa: PLC0415 (70 ms, 10 MB)

    return ClientTelemetry(settings.name, index, config, connected, troubles)


def hosted_groups(
    settings: VirtualCluster, index: int, report: Callable[[Report], None], troubles: Troubles
) -> HostedGroups | None:
    """Return what coordinates consumer groups."""
    if not settings.groups:
        return None
    from kproxy.coordinator.hosted_groups import HostedGroups  # noqa: PLC0415 (its codecs take 30 ms)

    return HostedGroups(settings.name, settings.groups, f"clusters.{index}", report, troubles)


def fault_injection(
    settings: VirtualCluster, counters: ClusterCounters, connections: Connections, report: Callable[[Report], None]
) -> FaultInjection | None:
    """Return what injects faults, for tests."""
    if not settings.faults.enabled:
        return None
    from kproxy.cluster.fault_injection import FaultInjection  # noqa: PLC0415 (its codecs take 30 ms)

    return FaultInjection(settings.faults, counters, connections.info, report)


def agreement(settings: VirtualCluster, upstreams: Mapping[str, Upstream], troubles: Troubles) -> Agreement | None:
    """Return what agrees with other replicas on the active upstream. Raises `ConfigError` outside Kubernetes."""
    failover = settings.failover
    if failover.control_topic is None and failover.config_map is None:
        return None
    check_kubernetes(settings)
    from kproxy.cluster.agreement import Agreement  # noqa: PLC0415 (its codecs take 10 ms)

    return Agreement(settings.name, places(settings, upstreams), troubles)


def places(settings: VirtualCluster, upstreams: Mapping[str, Upstream]) -> Mapping[str, Place]:
    """Return where orders are kept."""
    from kproxy.agreement.control_topic import ControlTopic  # noqa: PLC0415 (its codecs take 10 ms)

    name = settings.failover.config_map
    if name is not None:
        from kproxy.agreement.config_map import ConfigMap  # noqa: PLC0415 (h11, where no other room has it)
        from kproxy.upstream.kubernetes import ApiServer  # noqa: PLC0415 (as above)

        return {"config_map": ConfigMap(name, settings.name, ApiServer())}
    topic = settings.failover.control_topic
    if topic is None:
        return {}
    return {name: ControlTopic(topic, settings.name, upstream.ask) for name, upstream in upstreams.items()}


def check_kubernetes(settings: VirtualCluster) -> None:
    """Raise `ConfigError` where orders would be kept in a ConfigMap, and kproxy has no service account."""
    if settings.failover.config_map is not None:
        from kproxy.upstream.kubernetes import ApiServer  # noqa: PLC0415 (as above)

        ApiServer().check(f"clusters.{settings.name}.failover.config_map")
