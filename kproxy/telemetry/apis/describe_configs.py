# This module is pure (no I/O, no clock).
"""DescribeConfigs (32): the proxy describes subscriptions, the broker the rest (KIP-133, KIP-714).

The relay calls `converse` for a request that names subscriptions (config resource type 16, CLIENT_METRICS).

Version notes: v0 says whether a value is the default, later ones where it is from; v3 adds types and documentation; v4
is flexible.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kproxy.protocol.ask_broker import Dialogue
from kproxy.telemetry.apis.dialogue import DESCRIBE_CONFIGS, Altered, MayAlter, Refusal, ask, permitted
from kproxy.telemetry.apis.resources import Resource, key_of, merged, split
from kproxy.telemetry.config_resource import describe
from kproxy.telemetry.errors import SubscriptionError
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.config_resources import BROKER
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kproxy.wire.generated.describe_configs_response import DescribeConfigsResponse, DescribeConfigsResult
from kproxy.wire.generated.error_codes import ErrorCode

MOST_OTHERS: Final = 8
"""The most topics and the like that are described in one request with subscriptions: kproxy decodes their configs, and
more would take longer than 5 ms. A broker alone has 400 configs.
"""
_FIRST_SOURCES: Final = 1
_APART: Final = Refusal(
    ErrorCode.INVALID_REQUEST,
    f"kproxy describes client metrics together with {MOST_OTHERS} other resources at most, and with no broker: "
    "describe these in a request of their own",
)


def converse(
    telemetry: Telemetry, may_alter: MayAlter, request: DescribeConfigsRequest, version: int
) -> Dialogue[Altered]:
    """Ask the broker whether the client may describe configs, and for the resources other than subscriptions.

    The broker is not asked for type 16: it may be too old to know it.
    """
    own, rest = split(request.resources)
    apart: list[DescribeConfigsResource] = []
    if own and (len(rest) > MOST_OTHERS or any(resource.resource_type == BROKER for resource in rest)):
        rest, apart = [], rest
    refusal = (yield from permitted(DESCRIBE_CONFIGS, may_alter)) if own else None
    theirs: DescribeConfigsResponse | None = DescribeConfigsResponse()
    if rest or not own:
        theirs = yield from ask(
            version, replace(request, resources=rest), ApiKey.DESCRIBE_CONFIGS, DescribeConfigsResponse
        )
    described = {
        key_of(resource): _failed(resource, refusal)
        if refusal
        else _own(telemetry.subscriptions, request, version, resource)
        for resource in own
    } | {key_of(resource): _failed(resource, _APART) for resource in apart}
    results = merged(request.resources, described, theirs.results if theirs else None, _failed)
    throttle_time_ms = theirs.throttle_time_ms if theirs else 0
    return Altered(DescribeConfigsResponse(throttle_time_ms=throttle_time_ms, results=results))


def _own(
    subscriptions: Subscriptions, request: DescribeConfigsRequest, version: int, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    try:
        return describe(
            subscriptions,
            resource.resource_name,
            resource.configuration_keys,
            sources=version >= _FIRST_SOURCES,
            synonyms=request.include_synonyms,
            documentation=request.include_documentation,
        )
    except SubscriptionError as error:
        return _failed(resource, Refusal(error.code, error.message))


def _failed(resource: Resource, refusal: Refusal) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=refusal.code,
        error_message=refusal.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
