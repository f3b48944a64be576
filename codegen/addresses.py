"""The fields of Kafka's messages that are addresses: those to replace, and those left alone, with the reason.

The generators `skims`, `streams` and `walks` ask it which fields are addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from codegen.names import words
from codegen.schema import Field, Message, Struct

NODE_ID_NAMES: Final = ("NodeId", "BrokerId", "LeaderId")
"""Names of the field, in a struct or in one around it, with the id of the node that has the address."""
CONTROLLERS: Final = (
    "BeginQuorumEpochResponse",
    "DescribeQuorumResponse",
    "EndQuorumEpochResponse",
    "FetchSnapshotResponse",
    "UpdateRaftVoterResponse",
    "VoteResponse",
)
"""Responses with addresses of controllers."""
ENDPOINT_TYPE: Final = "EndpointType"
"""The field of DescribeCluster (KIP-919) for the kind of nodes: 1 brokers, 2 controllers."""
CONTROLLER_ENDPOINTS: Final = 2
STREAMED: Final = ("FetchResponse", "ShareFetchResponse")
"""Responses that may be far larger than a buffer: they are walked as they arrive."""
STREAMED_REQUESTS: Final = ("ProduceRequest",)
"""Requests that may be far larger than a buffer: their records are found as they pass."""
GLANCED: Final = ("ProduceResponse", *STREAMED, "ShareAcknowledgeResponse")
"""Frequent responses that hardly ever have an address: they get a second, faster walk over plain bytes."""

_CLIENT: Final = "the client's own address"
_ACL: Final = "an ACL's filter, compared with clients' addresses"
_STREAMS: Final = "where a Streams application serves its own queries (KIP-1071)"
_BROKER_SAYS: Final = "what a broker or controller says of itself to a controller; no client sends it"
_ADMIN_SAYS: Final = "the controller's address, given by an administrator (KIP-853); nothing to translate back"
_NUMBER: Final = "an enumeration or a counter, no address"
LEFT_ALONE: Final = {
    "AddRaftVoterRequest.Listeners": _ADMIN_SAYS,
    "BeginQuorumEpochRequest.LeaderEndpoints": _BROKER_SAYS,
    "BrokerRegistrationRequest.Listeners": _BROKER_SAYS,
    "ConsumerGroupDescribeResponse.Groups.Members.ClientHost": _CLIENT,
    "ControllerRegistrationRequest.Listeners": _BROKER_SAYS,
    "CreateAclsRequest.Creations.Host": _ACL,
    "DeleteAclsRequest.Filters.HostFilter": _ACL,
    "DeleteAclsResponse.FilterResults.MatchingAcls.Host": _ACL,
    "DescribeAclsRequest.HostFilter": _ACL,
    "DescribeAclsResponse.Resources.Acls.Host": _ACL,
    "DescribeClusterRequest.EndpointType": _NUMBER,
    "DescribeClusterResponse.EndpointType": _NUMBER,
    "DescribeGroupsResponse.Groups.Members.ClientHost": _CLIENT,
    "EndQuorumEpochRequest.LeaderEndpoints": _BROKER_SAYS,
    "EnvelopeRequest.ClientHostAddress": _CLIENT,
    "ShareGroupDescribeResponse.Groups.Members.ClientHost": _CLIENT,
    "StreamsGroupDescribeResponse.Groups.Members.ClientHost": _CLIENT,
    "StreamsGroupDescribeResponse.Groups.Members.UserEndpoint": _STREAMS,
    "StreamsGroupHeartbeatRequest.EndpointInformationEpoch": _NUMBER,
    "StreamsGroupHeartbeatRequest.UserEndpoint": _STREAMS,
    "StreamsGroupHeartbeatResponse.EndpointInformationEpoch": _NUMBER,
    "StreamsGroupHeartbeatResponse.PartitionsByUserEndpoint": _STREAMS,
    "UpdateRaftVoterRequest.Listeners": _ADMIN_SAYS,
}
"""Path of a field -> why it and everything below it pass unchanged."""

_ADDRESS_WORDS: Final = {"host", "hosts", "port", "ports", "listener", "listeners", "endpoint", "endpoints", "address"}


def looks_like_address(field: Field) -> bool:
    """Return True when the field's name has a word for addresses, so that tests notice new fields of Kafka."""
    return not _ADDRESS_WORDS.isdisjoint(word.lower() for word in words(field.name))


def paths(message: Message) -> Iterator[tuple[str, Field]]:
    """Yield every field of a message with its path, outer ones first."""
    return _paths(message.name, message.struct)


def _paths(prefix: str, struct: Struct) -> Iterator[tuple[str, Field]]:
    for field in struct.fields:
        path = f"{prefix}.{field.name}"
        yield path, field
        if field.struct:
            yield from _paths(path, field.struct)


def left_alone(path: str) -> bool:
    """Return True when the field, or one around it, is in `LEFT_ALONE`."""
    return any(path == entry or path.startswith(f"{entry}.") for entry in LEFT_ALONE)


def is_host(struct: Struct, field: Field) -> bool:
    """Return True for a Host field with a Port field directly behind it."""
    behind = struct.fields[struct.fields.index(field) + 1 :][:1]
    return field.name == "Host" and field.type == "string" and bool(behind) and behind[0].name == "Port"


def carries(field: Field, path: str) -> bool:
    """Return True when the struct of a field has, at any depth, addresses to replace."""
    if field.struct is None or left_alone(path):
        return False
    struct = field.struct
    return any(is_host(struct, inner) or carries(inner, f"{path}.{inner.name}") for inner in struct.fields)
