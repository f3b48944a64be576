"""AlterConfigs (33): the proxy alters subscriptions, the broker the rest (KIP-133, KIP-714).

Version notes: v2 is flexible. In all, configs of a resource that are not named go back to their default.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kproxy.errors import NONE
from kproxy.telemetry.apis.conversation import ALTER_CONFIGS, Conversation, MayAlter, Outcome, Refusal, ask, permitted
from kproxy.telemetry.apis.resources import Resource, altered, key_of, merged, split
from kproxy.telemetry.config_resource import alter
from kproxy.telemetry.service import Telemetry
from kproxy.wire.generated.alter_configs_request import AlterConfigsRequest
from kproxy.wire.generated.alter_configs_response import AlterConfigsResourceResponse, AlterConfigsResponse

KEY: Final = 33


def converse(
    telemetry: Telemetry, may_alter: MayAlter, request: AlterConfigsRequest, version: int
) -> Conversation[Outcome]:
    """Ask the broker who may, and for its resources; then alter the proxy's: changes take effect together."""
    own, rest = split(request.resources)
    refusal = (yield from permitted(ALTER_CONFIGS, may_alter)) if own else None
    theirs: AlterConfigsResponse | None = AlterConfigsResponse()
    if rest or not own:
        theirs = yield from ask(version, replace(request, resources=rest), KEY, AlterConfigsResponse)
    subscriptions = telemetry.subscriptions
    verdicts, changes = altered(
        subscriptions,
        own,
        refusal,
        request.validate_only,
        lambda resource: alter(subscriptions, resource.resource_name, resource.configs),
    )
    results = {key_of(resource): _result(resource, verdicts[key_of(resource)]) for resource in own}
    responses = merged(request.resources, results, theirs.responses if theirs else None, _result)
    throttle_time_ms = theirs.throttle_time_ms if theirs else 0
    return Outcome(AlterConfigsResponse(throttle_time_ms=throttle_time_ms, responses=responses), changes)


def _result(resource: Resource, refusal: Refusal | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=refusal.code if refusal else NONE,
        error_message=refusal.message if refusal else None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
