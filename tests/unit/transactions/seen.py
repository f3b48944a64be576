"""A connection of a producer, with nothing of kproxy but this room and the relay: what passes, and what is noted."""

from __future__ import annotations

from typing import Any

from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.composition import Room, compose
from kproxy.relay.apis import POLICIES
from kproxy.transactions.policies import requests, responses
from kproxy.transactions.transactional_id import TransactionalId
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.generated.api_keys import ApiKey
from tests.property.wire_contents import Content
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay

NAME = "orders"
CLIENT_ID = "c1"
TOPIC_ID = bytes(range(16))
AT = 1000.0
"""Every connection's time, in seconds."""


class Connection:
    """A client's connection; several may share the table of ids."""

    def __init__(self, ids: TransactionalIds | None = None, client_id: str = CLIENT_ID) -> None:
        self.ids = TransactionalIds() if ids is None else ids
        self.now = AT
        cluster = Cluster()
        rooms = (
            Room("transactions", responses(self.ids, lambda: self.now)),
            Room("transactions", requests(self.ids)),
            Room("relay", POLICIES),
        )
        self.relay = Relay(cluster, table=ApiTable(cluster.counters, compose(rooms)))
        self.client_id = client_id
        self.number = 0

    def ask(self, key: int, version: int, content: Content) -> int:
        """Send a request; return its correlation id."""
        self.number += 1
        self.pass_on(frames.request(key, version, self.number, content, self.client_id))
        return self.number

    def pass_on(self, request: bytes) -> None:
        """Send a request, which must pass as it is."""
        before = len(self.relay.broker.data)
        self.relay.feed("client", request)
        assert self.relay.broker.data[before:] == request
        assert self.relay.reason is None

    def get(self, response: bytes) -> None:
        """Get a response, which must pass as it is."""
        before = len(self.relay.client.data)
        self.relay.feed("broker", response)
        assert self.relay.client.data[before:] == response
        assert self.relay.reason is None

    def exchange(self, key: int, version: int, content: Content, answer: Content) -> None:
        """Send a request, and get its response."""
        self.get(frames.response(key, version, self.ask(key, version, content), answer))

    @property
    def noted(self) -> TransactionalId | None:
        """What is known of the id."""
        return self.ids.find(NAME)


def about(key: int, *, producer_id: int = 7, epoch: int = 3, name: str | None = NAME, **fields: Any) -> Content:
    """The content of a request about a transaction."""
    prefix = "V3AndBelow" if key == ApiKey.ADD_PARTITIONS_TO_TXN else ""
    content: Content = {f"{prefix}TransactionalId": name, f"{prefix}ProducerId": producer_id}
    content[f"{prefix}ProducerEpoch"] = epoch
    if key == ApiKey.ADD_PARTITIONS_TO_TXN:
        content["V3AndBelowTopics"] = [{"Name": "t", "Partitions": [0, 1]}, {"Name": "u", "Partitions": [0]}]
    if key in {ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT}:
        content["GroupId"] = "a group"
    return content | fields


def by_partition(key: int, *codes: int) -> Content:
    """The content of a response with a code for each of some partitions, behind a topic without any."""
    index, code, inner, outer = {
        ApiKey.PRODUCE: ("Index", "ErrorCode", "PartitionResponses", "Responses"),
        ApiKey.ADD_PARTITIONS_TO_TXN: (
            "PartitionIndex",
            "PartitionErrorCode",
            "ResultsByPartition",
            "ResultsByTopicV3AndBelow",
        ),
        ApiKey.TXN_OFFSET_COMMIT: ("PartitionIndex", "ErrorCode", "Partitions", "Topics"),
    }[ApiKey(key)]
    records = [{"BatchIndex": 0, "BatchIndexErrorMessage": "bad"}, {"BatchIndex": 1, "BatchIndexErrorMessage": None}]
    more = {"RecordErrors": records, "ErrorMessage": "why"} if key == ApiKey.PRODUCE else {}
    partitions = [{index: number, code: one, **more} for number, one in enumerate(codes)]
    named = {} if key == ApiKey.ADD_PARTITIONS_TO_TXN else {"TopicId": TOPIC_ID}
    topics = [{"Name": name, inner: some, **named} for name, some in (("u", []), ("t", partitions))]
    return {"ThrottleTimeMs": 9, outer: topics}
