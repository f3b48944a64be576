"""kproxy.agreement.control_topic over a broker's answers: which records count, and which keep it from being read.

tests/faults/test_agreement.py has real brokers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
import trio

from kproxy.agreement.control_topic import ControlTopic
from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import Order, encode_order
from kproxy.errors import UpstreamError
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.generated.describe_configs_response import DescribeConfigsResponse
from kproxy.wire.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kproxy.wire.generated.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kproxy.wire.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kproxy.wire.records import Record, encode_batch

OWN = Order("c", 3, "west", FailoverRecord(1, "id"), "r", "operator", 0.0)
OTHERS = Order("d", 9, "west", FailoverRecord(1, "id"), "r", "operator", 0.0)
LATER = b'{"version": 2, "what": "a later kproxy knows"}'


class Client:
    """Answers as a broker whose topic has these records; a Fetch behind them waits for ever."""

    def __init__(self, records: list[Record]) -> None:
        self.nodes: Mapping[int, tuple[str, int]] = {}
        self._data = PartitionData(records=encode_batch(records), high_watermark=len(records))
        self._answers: dict[type[Any], Any] = {
            MetadataResponse: MetadataResponse(
                brokers=[MetadataResponseBroker(1, "h", 1)],
                topics=[MetadataResponseTopic(name="t", partitions=[MetadataResponsePartition(leader_id=1)])],
            ),
            DescribeConfigsResponse: DescribeConfigsResponse(),
            ListOffsetsResponse: ListOffsetsResponse(
                topics=[ListOffsetsTopicResponse("t", [ListOffsetsPartitionResponse(offset=0)])]
            ),
            FetchResponse: FetchResponse(responses=[FetchableTopicResponse("t", partitions=[self._data])]),
        }

    def set_nodes(self, nodes: Mapping[int, tuple[str, int]]) -> None:
        self.nodes = nodes

    async def request(self, message: Any, answer: type[Any], **_: Any) -> Any:
        await trio.lowlevel.checkpoint()
        if answer is FetchResponse and message.topics[0].partitions[0].fetch_offset:
            await trio.sleep_forever()
        return self._answers[answer]


async def orders(*records: tuple[bytes | None, bytes | None]) -> list[Order]:
    """Return the orders of virtual cluster c that are handed on, where records of these keys and values are there."""
    client, found = Client([Record(key, value, 0) for key, value in records]), list[Order]()

    async def ask(question: Callable[[UpstreamClient], Awaitable[None]]) -> None:
        await question(cast("UpstreamClient", client))

    with trio.fail_after(20), trio.CancelScope() as scope:
        await ControlTopic("t", "c", ask).follow(found.append, scope.cancel)
    return found


async def test_what_counts() -> None:
    """The virtual cluster's own orders; what is none, or another one's, of whatever version, is left out."""
    strange = [(None, None), (b"k", b"{"), (b"d/9/r", encode_order(OTHERS)), (b"d/10/r", LATER), (None, LATER)]
    assert await orders(*strange, (OWN.key.encode(), encode_order(OWN))) == [OWN]


async def test_orders_of_the_past() -> None:
    """Only the highest one is handed on, so that none of them is followed, or logged at each start."""
    given = [replace(OWN, number=number) for number in (1, 5, 2, 4)]
    assert await orders(*((one.key.encode(), encode_order(one)) for one in given)) == [given[1]]


async def test_an_order_of_a_later_kproxy() -> None:
    """It may count, so the topic is not read."""
    with pytest.raises(
        UpstreamError, match=r"topic t: offset 1: an order of version 2; this kproxy knows 1: update it"
    ):
        await orders((OWN.key.encode(), encode_order(OWN)), (b"c/4/r", LATER))
