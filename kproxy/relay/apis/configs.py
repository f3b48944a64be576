# This module is pure (no I/O, no clock).
"""DescribeConfigs (32): values of brokers' configs that name hosts are masked; all else stays as the broker wrote it.

Runs for each DescribeConfigs request that no room before answers, and for the broker's response to a request that names
brokers. Responses to other requests pass unseen, whatever their size: topics, groups, loggers and client metrics have
no such configs. kproxy.telemetry asks the broker in the client's name when a request names its subscriptions; the
broker's answer to that is masked, too.

A response is held whole to be masked. One broker describes itself in 300 kB at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Final

from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.named_resources import REQUEST_LIMIT, named_resources
from kproxy.protocol.outcomes import Forward
from kproxy.protocol.walked import walked
from kproxy.relay.apis.config_addresses import CONTROLLER_NAMES, ENDINGS, NAMES, Shown, masked
from kproxy.wire.config_resources import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC, NamedResources
from kproxy.wire.config_values import ConfigValue, ConfigValues, replaced
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.primitives import frame as framed

_WITHOUT_ADDRESSES: Final = (TOPIC, BROKER_LOGGER, CLIENT_METRICS, GROUP)


def ask(context: Context, frame: memoryview) -> Forward | None:
    """Send a request on; if none of its resources has configs that name hosts, the response needs no look."""
    if named_resources(context, frame).names_only(*_WITHOUT_ADDRESSES):
        return Forward(framed(frame), unseen=True)
    return None


def _values(api_key: int, version: int) -> ConfigValues:
    del api_key
    return ConfigValues(version, NAMES, ENDINGS)


def mask(route: Route) -> Respond:
    """Make the handler that masks the values of a response."""
    version = route.version
    new_walk = partial(_values, route.api_key, version)

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        found = walked(context, frame, ConfigValues, new_walk).found
        if not found:
            return None
        brokers = _brokers(context, found)
        pairs = [(one, new) for one in found if (new := _masked(one, brokers[one.result])) != one.value]
        return replaced(frame, version, pairs)

    return respond


def _masked(found: ConfigValue, broker: Shown) -> bytes:
    config, name, value = (str(text, "utf-8", "replace") for text in (found.config, found.name, found.value))
    new = masked(config, name, value, broker)
    return found.value if new == value else new.encode()


def _brokers(context: Context, found: Sequence[ConfigValue]) -> Mapping[int, Shown]:
    """Return the broker that each result describes, by the result's number."""
    addresses = advertised(context)
    controllers = {
        one.result: tuple(name.strip() for name in str(one.value, "utf-8", "replace").split(","))
        for one in found
        if one.name == _CONTROLLER_NAMES
    }
    shown = {}
    for one in found:
        node_id = _node_id(one)
        broker = Shown(node_id, None if node_id is None else addresses.get(node_id))
        shown[one.result] = broker._replace(controllers=controllers.get(one.result, broker.controllers))
    return shown


_CONTROLLER_NAMES: Final = CONTROLLER_NAMES.encode()


def _node_id(found: ConfigValue) -> int | None:
    """Return the id of the broker that a value belongs to; None where it is the default of all, or of no broker."""
    name = found.resource_name
    return int(name) if found.resource_type == BROKER and name.isdigit() else None


def advertised(context: Context) -> Mapping[int, tuple[str, int]]:
    """Return the advertised addresses by node id; none where the broker is of an earlier topology."""
    if context.stale:
        return {}
    with suppress(Fault):  # a node has no port: the addresses are masked all the same
        return {node_id: (host, port) for node_id, host, port, _ in context.cluster.brokers(context.local_host)}
    return {}


POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {
        ApiKey.DESCRIBE_CONFIGS: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=ask,
            request_limit=REQUEST_LIMIT,
            request_walk=NamedResources,
            on_response=OnResponse.WHOLE,
            response=mask,
            response_walk=_values,
        )
    }
)
"""By api key."""
