"""Requests for which the broker may have to be asked first, as the relay wants them: frames in, frames out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kproxy.errors import MalformedMessageError
from kproxy.protocol.answer import Decode, M, response_frame
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import AskBroker, Deferred, Forward, Steps
from kproxy.telemetry.apis.altering import told
from kproxy.telemetry.apis.conversation import Ask, Conversation, Outcome
from kproxy.telemetry.config_resource import Change
from kproxy.wire.frame import frame as framed
from kproxy.wire.generated.alter_configs_response import AlterConfigsResponse
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.describe_cluster_response import DescribeClusterResponse
from kproxy.wire.generated.describe_configs_response import DescribeConfigsResponse
from kproxy.wire.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kproxy.wire.generated.list_config_resources_response import ListConfigResourcesResponse
from kproxy.wire.header import RequestHeader, decode_request_header, decode_response_header, encode_request_header
from kproxy.wire.message import WireMessage

Keep = Callable[[tuple[Change, ...], Callable[[str | None], None]], None]
"""Has changes survive a restart; then calls back, with the reason if they will not."""

RESPONSES: Final[dict[int, type[WireMessage]]] = {
    18: ApiVersionsResponse,
    32: DescribeConfigsResponse,
    33: AlterConfigsResponse,
    44: IncrementalAlterConfigsResponse,
    60: DescribeClusterResponse,
    74: ListConfigResourcesResponse,
}
"""What a broker answers to what conversations ask it."""


def conversing(
    decode: Decode[M],
    concerns: Callable[[M], bool],
    converse: Callable[[M, int], Conversation[Outcome]],
    keep: Keep,
) -> Callable[[Context, memoryview], AskBroker | Forward]:
    """A handler of requests that may need the broker's word first; those that are all the broker's pass as they are."""

    def handle(context: Context, frame: memoryview) -> AskBroker | Forward:
        del context
        header, body = decode_request_header(frame, 0, len(frame))
        request = decode(frame[body:], header.api_version)
        if not concerns(request):
            return Forward(framed(frame))
        return AskBroker(_steps(header, converse(request, header.api_version), keep))

    return handle


def _steps(header: RequestHeader, conversation: Conversation[Outcome], keep: Keep) -> Steps:
    """The conversation in frames. What it changes is kept before the client is told."""
    try:
        asked = next(conversation)
        while True:
            answer = yield request_frame(header, asked)
            asked = conversation.send(_understood(answer, asked))
    except StopIteration as end:
        outcome: Outcome = end.value
    if not outcome.changes:
        return response_frame(header, outcome.response)
    parked = Deferred()
    keep(outcome.changes, lambda reason: parked.resolve(response_frame(header, told(outcome, reason))))
    return parked


def request_frame(header: RequestHeader, asked: Ask) -> bytes:
    """A request of kproxy's own on a client's connection, in the client's name."""
    key, version, message = asked
    head = encode_request_header(RequestHeader(key, version, header.correlation_id, header.client_id))
    return framed(head, message.encode(version))


def _understood(frame: bytes, asked: Ask) -> WireMessage | None:
    key, version, _ = asked
    try:
        _, body = decode_response_header(frame, 0, len(frame), key, version)
        return RESPONSES[key].decode(memoryview(frame)[body:], version, exact=False)
    except MalformedMessageError:
        return None
