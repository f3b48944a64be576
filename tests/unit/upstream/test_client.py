"""UpstreamClient against scripted brokers: order, cancellation, timeouts, backoff, any broker."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing

from kproxy.errors import ShortageError, UpstreamError
from kproxy.observe.troubles import Troubles
from kproxy.topology.snapshot import from_metadata
from kproxy.upstream.client import UnknownNodeError, UpstreamClient
from kproxy.upstream.connection import MAX_IN_FLIGHT, Connection
from kproxy.upstream.handshake import HELLO, NotOfferedError
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.list_groups_request import ListGroupsRequest
from kproxy.wire.generated.list_groups_response import ListGroupsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.header import RequestHeader
from tests.support.bounds import Bounds
from tests.unit.relay.sockets import no_descriptors
from tests.unit.upstream import scripted_broker as script
from tests.unit.upstream.scripted_broker import API_VERSIONS, METADATA, ScriptedBroker, eventually

Start = Callable[..., Awaitable[UpstreamClient]]


@pytest.fixture
async def broker(nursery: trio.Nursery) -> ScriptedBroker:
    """A broker that behaves properly by default."""
    return await started(nursery, ScriptedBroker())


@pytest.fixture
def start(nursery: trio.Nursery) -> Start:
    """Start a client of some brokers, with short timeouts and backoff without randomness (the ceiling)."""

    async def start(*addresses: tuple[str, int], **settings: Any) -> UpstreamClient:
        chosen: dict[str, Any] = {"connect_timeout": 5.0, "request_timeout": 5.0, "rand": lambda: 0.999} | settings
        client = UpstreamClient(addresses, **chosen)
        await nursery.start(client.run)
        return client

    return start


async def started(nursery: trio.Nursery, broker: ScriptedBroker) -> ScriptedBroker:
    """The broker, listening; its metadata has one node, itself."""
    await nursery.start(broker.run)
    broker.name_nodes({1: broker.address})
    return broker


def unused_address() -> tuple[str, int]:
    """An address without a listener."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host, port = unused.getsockname()
        return host, port


async def test_metadata_of_a_broker(broker: ScriptedBroker, start: Start) -> None:
    """The request is answered in the newest version that both know, under the client's id."""
    client = await start(broker.address, client_id="the-client")
    answer = await client.metadata()
    assert (answer.cluster_id, answer.brokers[0].port) == ("scripted", broker.port)
    last = broker.seen[-1]
    assert (last.api_key, last.api_version, last.client_id) == (METADATA, 12, "the-client")


async def test_the_handshake_steps_down_to_what_the_broker_knows(nursery: trio.Nursery, start: Start) -> None:
    """A broker that refuses the newest ApiVersions is asked again in its own version, then used."""
    broker = await started(nursery, ScriptedBroker(newest_hello=2, metadata=(0, 5)))
    await (await start(broker.address)).metadata()
    assert [(header.api_key, header.api_version) for header in broker.seen] == [
        (18, HELLO.max_version),
        (18, 2),
        (3, 5),
    ]


async def test_many_requests_share_one_connection(broker: ScriptedBroker, start: Start) -> None:
    """With more requests at once than places in flight, each is answered, on one connection with one handshake."""
    client = await start(broker.address)
    answers = []

    async def ask() -> None:
        answers.append(await client.metadata())

    async with trio.open_nursery() as nursery:
        for _ in range(3 * MAX_IN_FLIGHT):
            nursery.start_soon(ask)
    assert len(answers) == 3 * MAX_IN_FLIGHT
    assert broker.accepted == 1


async def test_answers_meet_their_requests(broker: ScriptedBroker, start: Start) -> None:
    """Requests of two APIs in flight together each get their own answer."""
    client = await start(broker.address)
    client.set_nodes({1: broker.address})
    got: dict[int, object] = {}

    async def ask(number: int) -> None:
        request, answer = ((HELLO, ApiVersionsResponse), (MetadataRequest(topics=[]), MetadataResponse))[number % 2]
        got[number] = type(await client.request(request, answer, node=1))

    async with trio.open_nursery() as nursery:
        for number in range(40):
            nursery.start_soon(ask, number)
    assert got == {number: (ApiVersionsResponse, MetadataResponse)[number % 2] for number in range(40)}


async def test_a_cancelled_request_leaves_the_connection_usable(broker: ScriptedBroker, start: Start) -> None:
    """Its answer comes late and is dropped; the next request on the same connection gets its own answer."""
    client = await start(broker.address)
    await client.metadata()
    gate = trio.Event()

    async def late(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        broker.answer.cluster_id = f"request {header.correlation_id}"
        del broker.script[METADATA]
        await gate.wait()
        await broker.good(stream, header)
        broker.answer.cluster_id = "the next"

    broker.script[METADATA] = late
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.metadata)
            await eventually(lambda: METADATA not in broker.script, "the request has reached the broker")
            scope.cancel()
    gate.set()
    assert (await client.metadata()).cluster_id == "the next"
    assert broker.accepted == 1


async def test_a_request_that_times_out_ends_the_connection(broker: ScriptedBroker, start: Start) -> None:
    """All in flight fail; the reason names the broker, the fault and the remedy. The next request connects anew."""
    client = await start(broker.address)
    await client.metadata()
    broker.script[METADATA] = script.silent
    with pytest.raises(UpstreamError, match=rf"127.0.0.1:{broker.port}: no answer to Metadata v12 within 0.1 s; check"):
        await client.request(MetadataRequest(topics=[]), MetadataResponse, limit=0.1)
    await eventually(lambda: broker.open == 0, "the connection is closed")
    broker.script.clear()
    assert (await client.metadata()).cluster_id == "scripted"
    assert broker.accepted == 2


async def test_one_timeout_fails_all_that_wait_behind_it(broker: ScriptedBroker, start: Start) -> None:
    """A later request with time left does not wait for an answer that can no longer be matched."""
    client = await start(broker.address)
    await client.metadata()
    broker.script[METADATA] = script.silent
    failed = []

    async def ask(limit: float) -> None:
        with pytest.raises(UpstreamError, match=r"within 0\.2 s"):
            await client.request(MetadataRequest(topics=[]), MetadataResponse, limit=limit)
        failed.append(limit)

    with trio.fail_after(16):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask, 0.2)
            nursery.start_soon(ask, 60)
    assert sorted(failed) == [0.2, 60]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (script.raw(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "a response of 1213486160 bytes"),
        (script.raw(b"\x15\x03\x03\x00\x02\x02\x46"), "a response of 352518912 bytes"),
        (script.raw(b"\xff\xff\xff\xff"), "a response of -1 bytes"),
        (script.raw(b"\0\0\0\3abc"), "a response of 3 bytes"),
        (script.raw(b"\x02\0\0\1"), "a response of 33554433 bytes, where 4 to 33554432 are allowed"),
        (script.raw(b"\0\0\0\5\x7f\xff\xff\xff\0"), "correlation id 2147483647 where"),
        (script.misnumbered, "correlation id"),
        (script.closing, "with 1 requests unanswered"),
        (script.torn, "closed the connection inside a response"),
        (script.bodied(b""), "the broker's answer is not what its version says"),
        (script.bodied(b"\xff" * 9), "the broker's answer is not what its version says"),
    ],
)
async def test_a_broker_that_misbehaves(
    broker: ScriptedBroker, start: Start, behaviour: script.Behaviour, reason: str
) -> None:
    """The request fails with the reason, the connection is closed, and the client goes on when the broker recovers."""
    client = await start(broker.address)
    broker.script[METADATA] = behaviour
    with trio.fail_after(20), pytest.raises(UpstreamError, match=reason) as caught:
        await client.request(MetadataRequest(topics=[]), MetadataResponse)
    assert f"127.0.0.1:{broker.port}: " in str(caught.value)
    await eventually(lambda: broker.open == 0, "the connection is closed")
    broker.script.clear()
    assert (await client.metadata()).cluster_id == "scripted"


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (script.raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "check that a Kafka broker listens there"),
        (script.closing, "closed the connection with 1 requests unanswered"),
        (script.bodied(b"\xff" * 9), "ApiVersionsResponse"),
        (script.bodied(ApiVersionsResponse(error_code=42).encode(HELLO.max_version)), "INVALID_REQUEST"),
        (script.silent, r"no connection and handshake within 0\.3 s|no answer to ApiVersions"),
    ],
)
async def test_a_handshake_that_fails(
    broker: ScriptedBroker, start: Start, behaviour: script.Behaviour, reason: str
) -> None:
    """A peer that is no broker, or does not answer, is reported within the connect timeout; no socket stays open."""
    client = await start(broker.address, connect_timeout=0.3 if behaviour is script.silent else 5.0)
    broker.script[API_VERSIONS] = behaviour
    with trio.fail_after(20), pytest.raises(UpstreamError, match=reason):
        await client.metadata()
    await eventually(lambda: broker.open == 0, "the connection is closed")


async def test_bytes_behind_an_answer_do_no_harm(broker: ScriptedBroker, start: Start) -> None:
    """Kafka's own clients ignore them, and librdkafka's mock cluster sends them."""
    broker.answer.cluster_id = "with a tail"
    broker.script[METADATA] = script.bodied(broker.answer.encode(12) + b"\0")
    client = await start(broker.address)
    assert (await client.metadata()).cluster_id == "with a tail"


async def test_an_answer_to_no_request_ends_the_connection(broker: ScriptedBroker, start: Start) -> None:
    """A second answer to one request is not kept for the next one."""
    client = await start(broker.address)
    broker.script[METADATA] = script.unasked
    assert (await client.metadata()).cluster_id == "scripted"
    await eventually(lambda: broker.open == 0, "the connection is closed")


async def test_a_slow_broker_is_waited_for(broker: ScriptedBroker, start: Start) -> None:
    """An answer in single bytes is assembled."""
    broker.script = {METADATA: script.bytewise, API_VERSIONS: script.bytewise}
    assert (await (await start(broker.address)).metadata()).cluster_id == "scripted"


async def test_an_answer_over_the_limit_is_not_kept(broker: ScriptedBroker, start: Start) -> None:
    """The client's own limit holds."""
    broker.name_nodes(dict.fromkeys(range(100), ("a-rather-long-host-name.example.org", 9092)))
    client = await start(broker.address, max_response_bytes=1000)
    with pytest.raises(UpstreamError, match="where 4 to 1000 are allowed"):
        await client.metadata()


async def test_an_api_that_the_broker_lacks(broker: ScriptedBroker, start: Start) -> None:
    """Nothing is sent, the connection stays, and the error says that no retry helps."""
    client = await start(broker.address)
    with pytest.raises(NotOfferedError, match=rf"127.0.0.1:{broker.port}: the broker does not serve ListGroups"):
        await client.request(ListGroupsRequest(), ListGroupsResponse)
    await client.metadata()
    assert broker.accepted == 1


async def test_an_unknown_node(broker: ScriptedBroker, start: Start) -> None:
    """The error names the known nodes and asks for a refresh."""
    client = await start(broker.address)
    client.update(7, *broker.address)
    with pytest.raises(UnknownNodeError, match=r"node 8 is not known; refresh the metadata, known are \[7\]"):
        await client.request(HELLO, ApiVersionsResponse, node=8)


async def test_nobody_answers(start: Start) -> None:
    """Every address is tried, and the error names each with its reason."""
    first, second = unused_address(), unused_address()
    with pytest.raises(UpstreamError, match=r"no broker answers: .*\|") as caught:
        await (await start(first, second)).request(MetadataRequest(topics=[]), MetadataResponse)
    for host, port in (first, second):
        assert f"{host}:{port}: cannot connect: connection refused; check" in str(caught.value)


async def test_any_broker_that_can_be_connected_to(broker: ScriptedBroker, start: Start) -> None:
    """A dead bootstrap server does not matter while another lives."""
    client = await start(unused_address(), unused_address(), broker.address)
    assert (await client.request(MetadataRequest(topics=[]), MetadataResponse)).cluster_id == "scripted"


async def test_metadata_goes_on_to_the_next_broker(nursery: trio.Nursery, start: Start) -> None:
    """A bootstrap server that accepts but never answers costs its share of time, not the answer; then it is last."""
    hung, well = await started(nursery, ScriptedBroker()), await started(nursery, ScriptedBroker())
    hung.script[METADATA] = script.silent
    client = await start(hung.address, well.address)
    for _ in range(4):
        assert (await client.metadata(limit=1.0)).cluster_id == "scripted"
    assert hung.requests(METADATA) <= 1
    assert well.requests(METADATA) == 4


async def test_metadata_goes_on_behind_an_answer_of_no_use(nursery: trio.Nursery, start: Start) -> None:
    """As of a broker that has just begun, and knows no cluster yet."""
    new, well = await started(nursery, ScriptedBroker()), await started(nursery, ScriptedBroker())
    new.name_nodes({})
    client = await start(new.address, well.address)
    for _ in range(4):
        assert len((await client.described(from_metadata, fresh=True, limit=1.0)).nodes) == 1
    well.name_nodes({})
    with pytest.raises(UpstreamError, match="names no broker that can be dialled"):
        await client.described(from_metadata, fresh=True, limit=1.0)


async def test_a_connection_that_broke_is_opened_again(broker: ScriptedBroker, start: Start) -> None:
    """After a restart of the broker the next request has a new connection, without a failure in between."""
    client = await start(broker.address)
    await client.metadata()
    await broker.drop()
    await trio.testing.wait_all_tasks_blocked(0.05)
    assert (await client.metadata()).cluster_id == "scripted"
    assert broker.accepted == 2


async def test_dials_back_off(start: Start) -> None:
    """Each failed dial of a node waits longer: 50, 100, 200 ms with the jitter at its ceiling."""
    client = await start(unused_address())
    client.update(1, *unused_address())
    begun, ends = trio.current_time(), []
    for _ in range(4):
        with pytest.raises(UpstreamError, match="connection refused"):
            await client.request(HELLO, ApiVersionsResponse, node=1)
        ends.append(trio.current_time() - begun)
    # From the beginning: each wait begins at a failure, which the test sees a little later.
    assert [end >= floor for end, floor in zip(ends, (0, 0.049, 0.149, 0.349), strict=True)] == [True] * 4


async def test_an_answer_ends_the_backoff(broker: ScriptedBroker, start: Start, bounds: Bounds) -> None:
    """After a success the next failure is the first again."""
    client = await start(broker.address)
    client.update(1, *broker.address)
    broker.script[METADATA] = script.closing
    for _ in range(5):
        with pytest.raises(UpstreamError):
            await client.request(MetadataRequest(topics=[]), MetadataResponse, node=1)
    broker.script.clear()
    await client.request(MetadataRequest(topics=[]), MetadataResponse, node=1)
    broker.script[METADATA] = script.closing
    with pytest.raises(UpstreamError):
        await client.request(MetadataRequest(topics=[]), MetadataResponse, node=1)
    broker.script.clear()
    begun = trio.current_time()
    await client.request(MetadataRequest(topics=[]), MetadataResponse, node=1)
    # After a sixth failure in a row it would wait 1.6 s.
    bounds.below(trio.current_time() - begun, 1.0, "seconds of the request behind a first failure")


async def test_tasks_share_one_dial_and_its_failure(start: Start) -> None:
    """A hundred requests to a dead node end with one attempt, not with a hundred in turn."""
    dials = 0

    async def refuse(host: str, port: int) -> trio.abc.Stream:
        nonlocal dials
        dials += 1
        await trio.sleep(0.05)
        raise ConnectionRefusedError(111, "refused")

    client = await start(("127.0.0.1", 1), dial=refuse)
    client.update(1, "127.0.0.1", 1)

    async def ask() -> None:
        with pytest.raises(UpstreamError, match="connection refused"):
            await client.request(HELLO, ApiVersionsResponse, node=1)

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(ask)
    assert dials == 1


async def test_a_cancelled_dial_is_taken_over(broker: ScriptedBroker, start: Start) -> None:
    """When the task that dials is cancelled, one that waited dials itself, and no socket is left over."""
    client = await start(broker.address)
    broker.script[API_VERSIONS] = script.silent
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.metadata)
            await eventually(lambda: broker.accepted == 1, "the first dial")
            scope.cancel()
    broker.script.clear()
    assert (await client.metadata()).cluster_id == "scripted"
    await eventually(lambda: broker.open == 1, "only the second connection is open")


async def test_a_moved_node_is_asked_at_its_new_address(nursery: trio.Nursery, start: Start) -> None:
    """The old connection is closed, and requests go to the new address."""
    old, new = await started(nursery, ScriptedBroker()), await started(nursery, ScriptedBroker())
    client = await start(unused_address())
    client.update(1, *old.address)
    await client.request(HELLO, ApiVersionsResponse, node=1)
    client.update(1, *new.address)
    assert client.nodes == {1: new.address}
    await eventually(lambda: old.open == 0, "the old connection is closed")
    await client.request(HELLO, ApiVersionsResponse, node=1)
    assert (old.accepted, new.accepted) == (1, 1)


async def test_a_node_that_goes_while_it_is_dialled(broker: ScriptedBroker, start: Start) -> None:
    """The connection that comes too late is closed, and the request fails."""
    client = await start(unused_address())
    client.update(1, *broker.address)
    gate = trio.Event()

    async def late(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        await gate.wait()
        await broker.good(stream, header)

    broker.script[API_VERSIONS] = late

    async def ask() -> None:
        with pytest.raises(UpstreamError, match="no longer has a broker"):
            await client.request(MetadataRequest(topics=[]), MetadataResponse, node=1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await eventually(lambda: broker.accepted == 1, "the dial")
        client.set_nodes({})
        gate.set()
    await eventually(lambda: broker.open == 0, "the connection is closed")


async def test_the_end_of_run_closes_everything(broker: ScriptedBroker) -> None:
    """Requests in flight fail rather than hang, sockets are closed, and later requests say what is missing."""
    client = UpstreamClient([broker.address])
    broker.script[METADATA] = script.silent

    async def ask() -> None:
        with pytest.raises(UpstreamError, match="kproxy closed the connection"):
            await client.request(MetadataRequest(topics=[]), MetadataResponse)

    async with trio.open_nursery() as nursery, trio.open_nursery() as holding:
        await holding.start(client.run)
        nursery.start_soon(ask)
        await eventually(lambda: broker.requests(METADATA) == 1, "the request is under way")
        holding.cancel_scope.cancel()
    await eventually(lambda: broker.open == 0, "the connection is closed")
    with pytest.raises(UpstreamError, match=r"start UpstreamClient\.run"):
        await client.metadata()


async def test_a_shortage_of_descriptors_is_no_fault_of_the_broker(broker: ScriptedBroker, start: Start) -> None:
    """Neither a refused socket nor a name that cannot be looked up without files says anything about the broker."""
    client = await start(broker.address, ("no-such-host.invalid", 1))
    by_name = await start(("no-such-host.invalid", 1))
    with no_descriptors():
        for asked in (client, by_name):
            with pytest.raises(ShortageError, match="out of descriptors"):
                await asked.metadata()
    with pytest.raises(UpstreamError, match=r"no-such-host.invalid:1: cannot connect") as caught:
        await by_name.metadata()
    assert not isinstance(caught.value, ShortageError)


async def test_each_fresh_answer_has_its_lookup(
    broker: ScriptedBroker, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A poll that confirms what another has met must not rely on the same answer of a name server."""
    look_up, asked = socket.getaddrinfo, []

    def counted(host: str, port: int | None, **options: Any) -> Any:
        if host != "kafka.test":
            return look_up(host, port, **options)
        if options.get("flags"):
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        asked.append(host)
        return look_up("127.0.0.1", port, **options)

    monkeypatch.setattr(socket, "getaddrinfo", counted)
    client = await start(("kafka.test", broker.port))
    for _ in range(3):
        await client.metadata(fresh=True)
    assert len(asked) == 3


async def test_what_is_told_of_each_dial(broker: ScriptedBroker, start: Start) -> None:
    """Whether the broker answered; a shortage of kproxy's own says nothing about it."""
    told: list[tuple[tuple[str, int], bool]] = []
    dead = unused_address()
    client = await start(dead, broker.address, dialled=lambda address, error: told.append((address, error is None)))
    with no_descriptors(), pytest.raises(ShortageError):
        await client.metadata()
    assert told == []
    for _ in range(2):
        await client.metadata(fresh=True)
    assert set(told) == {(dead, False), (broker.address, True)}


async def test_a_fault_ends_its_connection_only(broker: ScriptedBroker, start: Start, monkeypatch: Any) -> None:
    """The client's nursery holds all connections: an exception there would end them, and the process."""
    troubles = Troubles()
    client = await start(broker.address, troubles=troubles)
    await client.metadata()
    with monkeypatch.context() as planted:
        planted.setattr(Connection, "_answered", lambda self, response: 1 // 0)
        with pytest.raises(UpstreamError):
            await client.metadata()
    assert troubles.errors["upstream"] == 1
    assert (await client.metadata()).cluster_id == "scripted"
