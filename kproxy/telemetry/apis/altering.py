# This module is pure.
"""What AlterConfigs and IncrementalAlterConfigs have in common: all but the messages and how a config is altered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, cast

from kproxy.protocol.ask_broker import Dialogue
from kproxy.telemetry.apis.dialogue import ALTER_CONFIGS, Altered, MayAlter, Refusal, ask, permitted
from kproxy.telemetry.apis.resources import Resource, alter_all, key_of, merged, split
from kproxy.telemetry.config_resource import CLIENT_METRICS, Change
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.message import WireMessage


class Request(Protocol):
    """Either API's request."""

    resources: Sequence[Any]
    validate_only: bool


class Api(NamedTuple):
    """One of the two: its messages, and the change that the configs of a resource (`name`, configs) ask for."""

    key: int
    response: type[Any]
    result: type[Any]
    change: Callable[[Subscriptions, str, Any], Change | None]


def converse(api: Api, telemetry: Telemetry, may_alter: MayAlter, request: Request, version: int) -> Dialogue[Altered]:
    """Ask the broker who may, and for its resources; then alter the proxy's: changes take effect together."""
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


def after_keeping(altered: Altered, unkept: str | None) -> WireMessage:
    """The response once the changes are kept; `unkept` says why a restart will not know of them, if it will not."""
    if unkept is not None:
        changed = {(CLIENT_METRICS, change.name) for change in altered.changes}
        for result in cast(Any, altered.response).responses:
            if key_of(result) in changed:
                result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
                result.error_message = f"it is in effect until kproxy restarts, but was not kept: {unkept}"
    return altered.response
