"""kproxy.cluster.rehearsal: what clusters may answer that healthy ones do not, and what takes too long."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from kproxy.cluster import rehearsal
from kproxy.cluster.rehearsal import asked, away
from kproxy.cluster.takeover import Asked
from kproxy.cluster.upstreams import Upstream
from kproxy.config import Config
from kproxy.topology.snapshot import Node
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.list_groups_response import ListedGroup, ListGroupsResponse
from kproxy.wire.header import decode_request_header, encode_response_header
from kproxy.wire.primitives import frame
from tests.unit.app.living import HOST
from tests.unit.coordinator.test_lag import SERVED, Offsets
from tests.unit.relay.sockets import black_hole
from tests.unit.upstream.scripted_broker import silent


class Groups(Offsets):
    """It has these groups."""

    def __init__(self, *groups: ListedGroup) -> None:
        super().__init__()
        self.listed = ListGroupsResponse(groups=list(groups))

    def _hello(self, version: int) -> bytes:
        return ApiVersionsResponse(api_keys=[ApiVersion(key, 0, 99) for key in (*SERVED, ApiKey.LIST_GROUPS)]).encode(
            version
        )

    async def _handle(self, stream: trio.SocketStream, request: bytes) -> None:
        header, _ = decode_request_header(request, 0, len(request))
        if header.api_key != ApiKey.LIST_GROUPS:
            await super()._handle(stream, request)
            return
        head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
        await stream.send_all(frame(head, self.listed.encode(header.api_version)))


def listed(group_id: str, protocol_type: str = "consumer") -> ListedGroup:
    return ListedGroup(group_id=group_id, protocol_type=protocol_type)


@asynccontextmanager
async def upstream(broker: Groups) -> AsyncIterator[Upstream]:
    """The upstream `u`, of one broker, node 1."""
    async with trio.open_nursery() as nursery:
        await nursery.start(broker.run)
        broker.name_nodes({1: broker.address})
        one = {"name": "c", "listen": f"{HOST}:9092", "bootstrap_servers": f"{HOST}:{broker.port}"}
        config = Config.model_validate({"clusters": [one], "timeouts": {"connect": 1, "upstream_request": 1}})

        def nothing(*_: object) -> None: ...

        yield Upstream(config.clusters[0].backends[0], config, "c", None, nothing, nothing)
        nursery.cancel_scope.cancel()


async def test_groups_of_consumers() -> None:
    """Those of Connect and of Streams' own protocol are none; empty ones have no protocol, and may have offsets."""
    broker = Groups(listed("app"), listed("empty", ""), listed("connect", "connect"))
    broker.committed = {("orders", 0): 5, ("orders", 1): -1}
    broker.lead(dict.fromkeys(broker.committed, 1))
    async with upstream(broker) as one:
        assert await asked(one, None) == Asked(broker.answer.cluster_id, {"orders": 2}, {"app": 1, "empty": 1}, {})
        assert (await asked(one, ["app"])).offsets == {"app": 1}
        assert (await asked(one, [])).offsets == {}


async def test_what_is_refused() -> None:
    """It is not compared, and the reason is known; what comes before it is."""
    broker = Groups(listed("app"))
    broker.lead({("orders", 0): 1})
    async with upstream(broker) as one:
        broker.listed.error_code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        found = await asked(one, None)
        why = "node 1: the broker answers ListGroups with CLUSTER_AUTHORIZATION_FAILED"
        assert (found.topics, found.unknown) == ({"orders": 1}, {"groups": why})
        broker.listed.error_code = ErrorCode.NONE
        broker.group_error = ErrorCode.GROUP_AUTHORIZATION_FAILED
        found = await asked(one, None)
        assert "GROUP_AUTHORIZATION_FAILED" in found.unknown["groups"]


async def test_too_many_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not compared: each is a question to its coordinator."""
    monkeypatch.setattr(rehearsal, "MOST_GROUPS", 2)
    async with upstream(Groups(*map(listed, "abc"))) as one:
        assert (await asked(one, None)).unknown == {"groups": "there are 3 groups, of which 2 at most are compared"}


async def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up at the deadline, or with the reason of the request."""
    broker = Groups()
    broker.script[ApiKey.METADATA] = silent
    async with upstream(broker) as one:
        found = await asked(one, None)
        assert "no answer" in found.unknown["topics"]
        assert found.unknown["groups"] == found.unknown["topics"]
        monkeypatch.setattr(rehearsal, "SECONDS", 0.1)
        found = await asked(one, None)
        assert found.unknown["topics"] == "u did not answer within 0.1 s".replace("u ", f"{one.name} ")


async def test_nodes_that_are_away() -> None:
    """Each with the reason; those that can be connected to are not among them."""
    broker = Groups()
    async with upstream(broker) as one, black_hole() as (host, port):
        nodes = {1: Node(1, HOST, broker.port), 2: Node(2, HOST, 1), 3: Node(3, host, port)}
        found = await away(one, nodes, 0.2)
    assert found[2] == "connection refused"
    assert found.keys() == {2, 3}
