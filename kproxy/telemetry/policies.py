"""Telemetry's api policies: for its own two APIs, and for its part of the config APIs.

An api policy is what kproxy does with one API. `ClientTelemetry` makes them when kproxy starts; the relay calls their
handlers for each request of these APIs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from kproxy.observe.reasons import Reason
from kproxy.protocol.answer import Answering, answering
from kproxy.protocol.api_table import ApiPolicy, OnRequest
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.named_resources import REQUEST_LIMIT, named_resources
from kproxy.protocol.outcomes import AskBroker
from kproxy.telemetry.apis import push_telemetry
from kproxy.telemetry.quotas import Pusher
from kproxy.telemetry.subscription import ClientInfo
from kproxy.wire.config_resources import CLIENT_METRICS, NamedResources
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.header import RequestHeader

if TYPE_CHECKING:
    from kproxy.telemetry.apis.dialogue import MayAlter
    from kproxy.telemetry.config_resource import Keep
    from kproxy.telemetry.payload import Push
    from kproxy.telemetry.service import Telemetry
    from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest

ENVELOPE: Final = 64 << 10
"""The most bytes of a push besides its metrics, generously."""
REFUSED_AT: Final = 4
"""A push of up to this many times the limit is read, to be answered that it is too large; a larger one is cut off."""
MOST_ELEMENTS: Final = 1000
"""The most resources, keys and configs of a request that names subscriptions: more would take longer than 5 ms."""
LIST_LIMIT: Final = 34 << 10
"""The most bytes of a request that lists resources: types of one byte, of which there are seven, and a client id."""

_CONFIGS: Final[Mapping[int, tuple[int, int] | None]] = {
    ApiKey.DESCRIBE_CONFIGS: None,
    ApiKey.ALTER_CONFIGS: None,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: None,
    ApiKey.LIST_CONFIG_RESOURCES: (0, 1),
}
"""The config APIs by api key, with the versions that are served whether the broker knows them or not."""


def policies(
    telemetry: Telemetry, take: Callable[[Push], None], may_alter: Callable[[], MayAlter], keep: Keep
) -> Mapping[int, ApiPolicy]:
    """Return the policies of one virtual cluster, by api key.

    `take` gets each accepted push. `may_alter` returns who may alter subscriptions at present. `keep` stores changes.
    """
    return {
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=answering(GetTelemetrySubscriptionsRequest.decode, partial(_get, telemetry)),
            own=(0, 0),
            alone=True,
        ),
        ApiKey.PUSH_TELEMETRY: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=answering(push_telemetry.decode, partial(_push, telemetry, take)),
            request_limit=REFUSED_AT * telemetry.max_bytes + ENVELOPE,
            own=(0, 0),
            alone=True,
        ),
        **{key: _of_configs(telemetry, may_alter, keep, key, own) for key, own in _CONFIGS.items()},
    }


def _of_configs(
    telemetry: Telemetry, may_alter: Callable[[], MayAlter], keep: Keep, key: int, own: tuple[int, int] | None
) -> ApiPolicy:
    def handle(context: Context, frame: memoryview) -> AskBroker | None:
        if key != ApiKey.LIST_CONFIG_RESOURCES and not _concerns(context, frame, key):
            return None
        from kproxy.telemetry.config_policies import handler  # noqa: PLC0415 - it says why

        return handler(telemetry, may_alter(), keep, key)(context, frame)

    if key == ApiKey.LIST_CONFIG_RESOURCES:
        return ApiPolicy(on_request=OnRequest.WHOLE, request=handle, request_limit=LIST_LIMIT, own=own)
    return ApiPolicy(
        on_request=OnRequest.WHOLE,
        request=handle,
        request_limit=REQUEST_LIMIT,
        request_walk=NamedResources,
        own=own,
    )


def _concerns(context: Context, frame: memoryview, key: int) -> bool:
    """True when subscriptions are among the resources; raises `Fault` if it would take long to decode the request."""
    named = named_resources(context, frame)
    if not named.names(CLIENT_METRICS):
        return False
    if named.elements > MOST_ELEMENTS:
        detail = (
            f"{named.elements} resources and configs in a request that names client metrics; the limit is "
            f"{MOST_ELEMENTS}: describe or alter the others apart"
        )
        raise Fault(Reason.FRAME_TOO_LARGE, detail, key)
    return True


def _get(
    telemetry: Telemetry, context: Context, header: RequestHeader, request: GetTelemetrySubscriptionsRequest
) -> Answering:
    info = _info(context, header, request.client_instance_id)
    response = telemetry.get(info, request, time.time(), _pusher(context))
    yield
    return response


def _push(
    telemetry: Telemetry,
    take: Callable[[Push], None],
    context: Context,
    header: RequestHeader,
    request: PushTelemetryRequest,
) -> Answering:
    info = _info(context, header, request.client_instance_id)
    response, push = yield from telemetry.pushing(info, request, time.time(), _pusher(context))
    yield
    if push is not None:
        take(push)
    return response


def _pusher(context: Context) -> Pusher:
    pusher = context.state(Pusher)
    pusher.principal = context.principal
    return pusher


def _info(context: Context, header: RequestHeader, instance_id: UUID) -> ClientInfo:
    name, version = context.software or (None, None)
    port = context.port or 0
    return ClientInfo(instance_id, header.client_id, name, version, context.host, port, context.principal)
