"""What is allowed and yet may not be what was meant, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from kproxy.config.models import Config


def notes(config: Config) -> Iterator[str]:
    """`key: what comes of it`, in the configuration's order."""
    for cluster in config.clusters:
        if cluster.telemetry is not None and not config.receivers_of(cluster):
            yield f"clusters.{cluster.name}.telemetry: has no receiver: what clients push is taken and dropped"
    served = {receiver.name for cluster in config.clusters for receiver in config.receivers_of(cluster)}
    for receiver in config.receivers:
        if receiver.name not in served:
            yield f"receivers.{receiver.name}: no virtual cluster's telemetry goes there"
        elif receiver.type == "prometheus" and config.admin is None:
            yield f"receivers.{receiver.name}: there is no admin port to serve /metrics/clients"
