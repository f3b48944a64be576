"""The messages that get a full codec, each with the reason.

`generate` makes a module for each of them. All others are relayed unread or skimmed (only their addresses are found).
"""

from __future__ import annotations

from typing import Final

CODECS: Final = {
    "ApiVersions": "the answer is the intersection of the broker's versions and the proxy's (KIP-511, KIP-1242)",
    "Metadata": "the topology watcher asks for it",
    "DescribeCluster": "the topology watcher asks for it",
    "FindCoordinator": "answered for hosted groups",
    "InitProducerId": "the producer ids of several upstream clusters are kept apart",
    "Produce": "records of the proxy's own: telemetry and events that go to a topic",
    "SaslHandshake": "the proxy is a client of the brokers and a server of the clients",
    "SaslAuthenticate": "the proxy is a client of the brokers and a server of the clients",
    "GetTelemetrySubscriptions": "KIP-714 ends at the proxy",
    "PushTelemetry": "KIP-714 ends at the proxy",
    "IncrementalAlterConfigs": "client metrics subscriptions are set by Kafka's own tools (KIP-1106)",
    "DescribeConfigs": "client metrics subscriptions are read by Kafka's own tools",
    "AlterConfigs": "client metrics subscriptions are set by older tools",
    "ListConfigResources": "client metrics subscriptions are listed by Kafka's own tools (KIP-1142)",
    "JoinGroup": "hosted groups",
    "SyncGroup": "hosted groups",
    "Heartbeat": "hosted groups",
    "LeaveGroup": "hosted groups",
    "OffsetCommit": "hosted groups",
    "OffsetFetch": "hosted groups",
    "TxnOffsetCommit": "answered NOT_COORDINATOR after a switch",
    "ListGroups": "hosted groups appear in the listing",
    "DescribeGroups": "hosted groups can be described",
    "DeleteGroups": "hosted groups can be deleted",
    "ListOffsets": "the ends of partitions, for a hosted group's lag",
    "CreateTopics": "the control topic, in which replicas agree on the active upstream",
    "Fetch": "what the control topic says",
    "OffsetDelete": "offsets of a topic that a hosted group subscribes to stay",
    "AddPartitionsToTxn": "answered with an injected error",
    "AddOffsetsToTxn": "answered with an injected error",
    "EndTxn": "answered with an injected error",
    "DeleteTopics": "answered with an injected error",
}
RESPONSES: Final = {
    "ConsumerGroupHeartbeat": "answered NOT_COORDINATOR after a switch",
    "ShareGroupHeartbeat": "answered NOT_COORDINATOR after a switch",
    "StreamsGroupHeartbeat": "answered NOT_COORDINATOR after a switch",
}
"""APIs with a codec for the response only: kproxy does not read their requests."""
DATA: Final = {
    "ConsumerProtocolSubscription": "what a member of a hosted group subscribes to",
    "ConsumerProtocolAssignment": "what the leader assigns",
}


def codec_names() -> list[str]:
    """Return the names of all messages with a codec."""
    both = [name + side for name in CODECS for side in ("Request", "Response")]
    return both + [f"{name}Response" for name in RESPONSES] + list(DATA)
