# This module is pure (no I/O, no clock).
"""The common part of dialogues: ask the broker whether the client's principal may alter or describe subscriptions.

A dialogue asks the broker on the client's connection, before the client is answered. The modules beside this one have
one for each config API, and call this one in it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

from kproxy.protocol.ask_broker import Dialogue
from kproxy.telemetry.config_resource import Change
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.describe_cluster_request import DescribeClusterRequest
from kproxy.wire.generated.describe_cluster_response import DescribeClusterResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.message import WireMessage

M = TypeVar("M", bound=WireMessage)

MayAlter: TypeAlias = Literal["upstream", "any", "none"]

DESCRIBE_CONFIGS: Final = 10
"""An AclOperation of Kafka, as is the next."""
ALTER_CONFIGS: Final = 11
_OPERATIONS: Final = {DESCRIBE_CONFIGS: "describe", ALTER_CONFIGS: "alter"}


class Altered(NamedTuple):
    """The response for the client, and the changes that took effect, to be stored."""

    response: WireMessage
    changes: tuple[Change, ...] = ()


class Refusal(NamedTuple):
    """Why a resource is not altered or described: Kafka's error code, and a sentence for a person."""

    code: int
    message: str


UNANSWERED: Final = Refusal(ErrorCode.NETWORK_EXCEPTION, "kproxy has no answer of the broker")


def ask(version: int, request: WireMessage, key: int, kind: type[M]) -> Dialogue[M | None]:
    """Return the broker's response; None if it is not of that kind."""
    response = yield key, version, request
    return response if isinstance(response, kind) else None


def supported() -> Dialogue[dict[int, tuple[int, int]] | None]:
    """Return the versions of each API that the broker knows, if it answers. An unknown API would make it hang up."""
    response = yield from ask(0, ApiVersionsRequest(), ApiKey.API_VERSIONS, ApiVersionsResponse)
    if response is None or response.error_code != ErrorCode.NONE:
        return None
    return {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}


def permitted(operation: int, may_alter: MayAlter) -> Dialogue[Refusal | None]:
    """Return why this connection may not alter or describe subscriptions; None if it may.

    Kafka treats subscriptions as configs of the cluster, so the cluster decides. DescribeCluster, on the client's own
    connection and thus with its principal, returns the operations that the principal is authorized for. No other
    request returns them without a side effect. Without an authorizer it returns all; a principal needs DESCRIBE besides
    the operation. `any` permits everything to everybody. `none` permits nobody to alter; the broker decides who may
    describe.
    """
    if may_alter == "any":
        return None
    if may_alter == "none" and operation == ALTER_CONFIGS:
        return Refusal(
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "client metrics are altered in kproxy only (telemetry.admin: none)"
        )
    versions = yield from supported()
    if versions is None:
        return UNANSWERED
    if ApiKey.DESCRIBE_CLUSTER not in versions:
        reason = "the broker, older than Kafka 2.8, cannot say who may (telemetry.admin: upstream)"
        return Refusal(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, reason)
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    return _refusal(operation, (yield from ask(0, request, ApiKey.DESCRIBE_CLUSTER, DescribeClusterResponse)))


def _refusal(operation: int, cluster: DescribeClusterResponse | None) -> Refusal | None:
    if cluster is None:
        return UNANSWERED
    if cluster.error_code != ErrorCode.NONE:
        return Refusal(cluster.error_code, cluster.error_message or "the broker refused to describe the cluster")
    if cluster.cluster_authorized_operations >> operation & 1:
        return None
    what = _OPERATIONS[operation]
    return Refusal(
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED, f"the broker says that this principal may not {what} cluster configs"
    )
