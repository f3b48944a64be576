# This module is pure (no I/O, no clock).
"""ListConfigResources (74): the proxy lists its subscriptions, the broker the rest (KIP-714, KIP-1142).

The relay calls `converse` for each of these requests.

Version notes: v0, once ListClientMetricsResources, lists subscriptions only. v1 adds resource types; a request without
types asks for all. Brokers know v0 since Kafka 3.7 and v1 since 4.1. A broker is not asked in a version that it does
not know.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kproxy.protocol.ask_broker import Dialogue
from kproxy.telemetry.apis.dialogue import DESCRIBE_CONFIGS, UNANSWERED, Altered, MayAlter, ask, permitted, supported
from kproxy.telemetry.config_resource import CLIENT_METRICS, list_resources
from kproxy.telemetry.service import Telemetry
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.list_config_resources_request import ListConfigResourcesRequest
from kproxy.wire.generated.list_config_resources_response import ConfigResource, ListConfigResourcesResponse

_WITH_TYPES: Final = 1


def converse(
    telemetry: Telemetry, may_alter: MayAlter, request: ListConfigResourcesRequest, version: int
) -> Dialogue[Altered]:
    """List the broker's resources, then the proxy's.

    A broker that lists any has checked the principal. Otherwise it is asked whether the principal may describe.
    """
    own = [ConfigResource(resource_name=name) for name in list_resources(telemetry.subscriptions)]
    types = request.resource_types if version >= _WITH_TYPES else [CLIENT_METRICS]
    if set(types) == {CLIENT_METRICS}:
        return Altered((yield from _checked(may_alter, own)))
    versions = yield from supported()
    if versions is None:
        return _error(UNANSWERED.code)
    if versions.get(ApiKey.LIST_CONFIG_RESOURCES, (0, 0))[1] >= _WITH_TYPES:
        return Altered((yield from _both(request, own)))
    if types and CLIENT_METRICS not in types:
        return _error(ErrorCode.UNSUPPORTED_VERSION)
    return Altered((yield from _checked(may_alter, own)))


def _checked(may_alter: MayAlter, own: list[ConfigResource]) -> Dialogue[ListConfigResourcesResponse]:
    refusal = yield from permitted(DESCRIBE_CONFIGS, may_alter)
    if refusal:
        return ListConfigResourcesResponse(error_code=refusal.code)
    return ListConfigResourcesResponse(config_resources=own)


def _both(request: ListConfigResourcesRequest, own: list[ConfigResource]) -> Dialogue[ListConfigResourcesResponse]:
    """Leave out subscriptions of the broker: they reach no client here, since telemetry does not reach the broker."""
    types = request.resource_types
    others = [kind for kind in types if kind != CLIENT_METRICS]
    asked = replace(request, resource_types=others)
    theirs = yield from ask(_WITH_TYPES, asked, ApiKey.LIST_CONFIG_RESOURCES, ListConfigResourcesResponse)
    if theirs is None:
        return ListConfigResourcesResponse(error_code=UNANSWERED.code)
    if theirs.error_code == ErrorCode.NONE:
        kept = [resource for resource in theirs.config_resources if resource.resource_type != CLIENT_METRICS]
        theirs.config_resources = kept + (own if not types or CLIENT_METRICS in types else [])
    return theirs


def _error(code: int) -> Altered:
    return Altered(ListConfigResourcesResponse(error_code=code))
