# This module is pure (no I/O, no clock).
"""AlterConfigs (33) and IncrementalAlterConfigs (44): the proxy alters subscriptions, the broker the rest (KIP-714).

The relay calls `converse` or `converse_incremental` for a request that names subscriptions (config resource type 16,
CLIENT_METRICS).

Version notes: AlterConfigs (KIP-133) is flexible from v2 on. Configs of a resource that it does not name return to
their defaults. IncrementalAlterConfigs (KIP-339) is flexible from v1 on. Set, delete, append and subtract are in both
versions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, cast

from kproxy.protocol.ask_broker import Dialogue
from kproxy.telemetry.apis.dialogue import ALTER_CONFIGS, Altered, MayAlter, Refusal, ask, permitted
from kproxy.telemetry.apis.resources import Resource, alter_all, key_of, merged, split
from kproxy.telemetry.config_resource import CLIENT_METRICS, Change, alter, alter_incremental
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated import alter_configs_response, incremental_alter_configs_response
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.message import WireMessage


class Request(Protocol):
    """The request of either API."""

    resources: Sequence[Any]
    validate_only: bool


class Api(NamedTuple):
    """One of the two APIs: its messages, and the `change` that the name and the configs of a resource ask for."""

    key: int
    response: type[Any]
    result: type[Any]
    change: Callable[[Subscriptions, str, Any], Change | None]


def _converse(api: Api, telemetry: Telemetry, may_alter: MayAlter, request: Request, version: int) -> Dialogue[Altered]:
    """Ask the broker whether the client may alter, and for its resources; then alter the proxy's, all together."""
    own, rest = split(request.resources)
    refusal = (yield from permitted(ALTER_CONFIGS, may_alter)) if own else None
    theirs = api.response()
    if rest or not own:
        asked = cast(WireMessage, replace(cast(Any, request), resources=rest))
        theirs = yield from ask(version, asked, api.key, api.response)
    subscriptions = telemetry.subscriptions
    refusals, changes = alter_all(
        subscriptions,
        own,
        refusal,
        request.validate_only,
        lambda resource: api.change(subscriptions, resource.resource_name, resource.configs),
    )

    def result(resource: Resource, refusal: Refusal | None) -> Any:
        return api.result(
            error_code=refusal.code if refusal else ErrorCode.NONE,
            error_message=refusal.message if refusal else None,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )

    results = {key_of(resource): result(resource, refusals[key_of(resource)]) for resource in own}
    responses = merged(request.resources, results, theirs.responses if theirs else None, result)
    throttle_time_ms = theirs.throttle_time_ms if theirs else 0
    return Altered(api.response(throttle_time_ms=throttle_time_ms, responses=responses), changes)


converse: Final = partial(
    _converse,
    Api(
        ApiKey.ALTER_CONFIGS,
        alter_configs_response.AlterConfigsResponse,
        alter_configs_response.AlterConfigsResourceResponse,
        alter,
    ),
)
converse_incremental: Final = partial(
    _converse,
    Api(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        incremental_alter_configs_response.IncrementalAlterConfigsResponse,
        incremental_alter_configs_response.AlterConfigsResourceResponse,
        alter_incremental,
    ),
)


def after_keeping(altered: Altered, unkept: str | None) -> WireMessage:
    """Return the response after storing the changes; `unkept` is the reason if a restart will lose them."""
    if unkept is not None:
        changed = {(CLIENT_METRICS, change.name) for change in altered.changes}
        for result in cast(Any, altered.response).responses:
            if key_of(result) in changed:
                result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
                result.error_message = f"it is in effect until kproxy restarts, but was not kept: {unkept}"
    return altered.response
