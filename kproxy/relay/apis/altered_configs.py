# This module is pure (no I/O, no clock).
"""AlterConfigs (33) and IncrementalAlterConfigs (44) of brokers: no masked value goes in, no address comes out.

Runs for each such request that no room before answers, and for the broker's response where the request names brokers.

DescribeConfigs shows kproxy's addresses in place of a broker's (`configs`). A tool that reads a broker's configs and
writes them back would have the broker listen there, and Kafka takes `listeners` without a question. So a request with
such a value is refused as a whole, by 42 (INVALID_REQUEST) for each resource, and the broker gets nothing of it.

When a change of listeners fails, Kafka's error message names the present ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.answer import response_frame
from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.named_resources import REQUEST_LIMIT, named_resources
from kproxy.protocol.outcomes import Answer, Forward
from kproxy.relay.apis.config_addresses import NOWHERE, is_address, is_masked
from kproxy.relay.apis.configs import advertised
from kproxy.wire.config_resources import BROKER, NamedResources
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.header import RequestHeader, decode_request_header, decode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed

MOST_ELEMENTS: Final = 1000
"""The most resources and configs of a request that alters brokers: Kafka has 400 configs, a request one broker."""
MOST_BYTES: Final = 128 << 10
"""Of the same: the values of some are looked through for addresses, in the thread that serves all."""
_NAME: Final = 100
"""Characters of a config's name that an answer repeats: it does so for each resource."""
_ADDRESS: Final = re.compile(r"(://|\d@)(?:\[[0-9A-Fa-f:.%]+\])?[^\s,'\"\]]*")
"""What error messages have of listeners and voters, from the scheme or the id on."""
_REFUSED: Final = (
    "the value of {} is an address that kproxy shows in place of the broker's own: leave it out, or give the "
    "broker's own"
)


def ask(context: Context, frame: memoryview) -> Forward | Answer | None:
    """Send a request on, refuse one with a masked value; raise `Fault` if it would take long to tell."""
    named = named_resources(context, frame)
    if not named.names(BROKER):
        return Forward(framed(frame), unseen=True)
    header, body = decode_request_header(frame, 0, len(frame))
    for count, most, what in (
        (named.elements, MOST_ELEMENTS, "resources and configs"),
        (len(frame), MOST_BYTES, "bytes"),
    ):
        if count > most:
            detail = f"{count} {what} in a request that alters brokers; the limit is {most}"
            raise Fault(Reason.FRAME_TOO_LARGE, detail, header.api_key)
    resources = _messages(header.api_key)[0].decode(frame[body:], header.api_version).resources
    ours = {f"{host}:{port}" for host, port in advertised(context).values()}
    masked = [config.name for resource in resources for config in resource.configs if _is_masked(config, ours)]
    return Answer(_refusal(header, resources, masked[0])) if masked else None


def _is_masked(config: Any, ours: set[str]) -> bool:
    return config.value is not None and is_address(config.name) and is_masked(config.value, ours)


def _refusal(header: RequestHeader, resources: Sequence[Any], config: str) -> bytes:
    _, response, result = _messages(header.api_key)
    results = [
        result(
            error_code=ErrorCode.INVALID_REQUEST,
            error_message=_REFUSED.format(config[:_NAME]),
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource in resources
    ]
    answer: WireMessage = response(responses=results)
    return response_frame(header, answer)


def _messages(api_key: int) -> tuple[Any, Any, Any]:
    """Return the request's type, the response's and that of its results; imported here, since hardly anybody alters."""
    if api_key == ApiKey.ALTER_CONFIGS:
        from kproxy.wire.generated import alter_configs_request as request  # noqa: PLC0415 - it says why
        from kproxy.wire.generated import alter_configs_response as response  # noqa: PLC0415 - it says why

        return request.AlterConfigsRequest, response.AlterConfigsResponse, response.AlterConfigsResourceResponse
    from kproxy.wire.generated import incremental_alter_configs_request as incremental  # noqa: PLC0415 - it says why
    from kproxy.wire.generated import incremental_alter_configs_response as incremental_response  # noqa: PLC0415 - it says why

    return (
        incremental.IncrementalAlterConfigsRequest,
        incremental_response.IncrementalAlterConfigsResponse,
        incremental_response.AlterConfigsResourceResponse,
    )


def mask(route: Route) -> Respond:
    """Make the handler that masks addresses in error messages; a request has few resources, and so has its response."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        del context
        if _ADDRESS.search(str(frame, "latin-1")) is None:
            return None
        _, body = decode_response_header(frame, 0, len(frame), route.api_key, route.version)
        response = _messages(route.api_key)[1].decode(frame[body:], route.version)
        for result in response.responses:
            result.error_message = result.error_message and _ADDRESS.sub(rf"\1{NOWHERE}", result.error_message)
        return [frame[:body], response.encode(route.version)]

    return respond


_policy: Final = ApiPolicy(
    on_request=OnRequest.WHOLE,
    request=ask,
    request_limit=REQUEST_LIMIT,
    request_walk=NamedResources,
    on_response=OnResponse.WHOLE,
    response=mask,
)
POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {ApiKey.ALTER_CONFIGS: _policy, ApiKey.INCREMENTAL_ALTER_CONFIGS: _policy}
)
"""By api key."""
