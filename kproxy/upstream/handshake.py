# This module is pure (no I/O, no clock).
"""The first exchange on each connection of kproxy's own, ApiVersions, and the versions of requests that follow from it.

`open_session` shakes hands on each new connection, then `Session` calls `pick` for each request. The prober of nodes
asks `HELLO`, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple, Protocol

import kproxy
from kproxy.errors import MalformedMessageError, UpstreamError
from kproxy.upstream.responses import refused
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.error_codes import ErrorCode

_LOG: Final = "its log has the reason"
HELLO: Final = ApiVersionsRequest(client_software_name="kproxy", client_software_version=kproxy.__version__)


class Request(Protocol):
    """A generated request message."""

    api_key: ClassVar[int]
    min_version: ClassVar[int]
    max_version: ClassVar[int]

    def encode(self, version: int) -> bytes:
        """Return the body."""


class Offered(NamedTuple):
    """The versions of one API that a broker serves, both included."""

    min_version: int
    max_version: int


class NotOfferedError(UpstreamError):
    """The broker serves no version of an API that kproxy knows: no retry helps, only another Kafka version."""


def decode_answer(body: bytes, version: int) -> ApiVersionsResponse:
    """Return the response to ApiVersions `version`. Raises MalformedMessageError.

    A broker that does not know the version answers in the form of v0 (KIP-511). librdkafka's mock cluster tries to, and
    gets the array's length wrong: a refusal that cannot be read counts as one without a range.
    """
    if not body.startswith(ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")):
        return ApiVersionsResponse.decode(body, version)
    try:
        return ApiVersionsResponse.decode(body, 0)
    except MalformedMessageError:
        return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)


def offered(answer: ApiVersionsResponse) -> Mapping[int, Offered]:
    """Return the versions that a broker serves, by api key."""
    return MappingProxyType({api.api_key: Offered(api.min_version, api.max_version) for api in answer.api_keys})


def next_hello(answer: ApiVersionsResponse, version: int) -> int | None:
    """Return the ApiVersions version to ask with after `answer` to `version`; None when that was the answer.

    Raises RefusedError when the broker refuses even the version that it names itself. By its code: UNSUPPORTED_VERSION
    is for somebody to change in all other answers, and here for kproxy (KIP-511).
    """
    if answer.error_code == ErrorCode.NONE:
        return None
    own = offered(answer).get(ApiVersionsRequest.api_key)
    # Brokers before 2.4 name no range with their refusal; each of them knows v0.
    lower = 0 if own is None else min(own.max_version, ApiVersionsRequest.max_version)
    if answer.error_code != ErrorCode.UNSUPPORTED_VERSION or lower >= version:
        hint = "give kproxy an `identity`" if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE else _LOG
        raise refused("ApiVersions", answer.error_code, asked=f"v{version}", said=hint)
    return max(lower, 0)


def pick(message: Request, broker: Mapping[int, Offered]) -> int:
    """Return the newest version of a request that both sides know. Raises NotOfferedError when there is none.

    Versions that Kafka 4 has removed are relayed for clients; kproxy itself reads no answer in them.
    """
    name, theirs = APIS[message.api_key].name, broker.get(message.api_key)
    lowest = max(message.min_version, APIS[message.api_key].newest_from)
    if theirs is None:
        raise NotOfferedError(f"the broker does not serve {name}; kproxy needs a Kafka version that has it")
    version = min(message.max_version, theirs.max_version)
    if version < max(lowest, theirs.min_version):
        raise NotOfferedError(
            f"the broker serves {name} v{theirs.min_version} to v{theirs.max_version}, kproxy "
            f"v{lowest} to v{message.max_version}; use versions of Kafka and kproxy that overlap"
        )
    return version
