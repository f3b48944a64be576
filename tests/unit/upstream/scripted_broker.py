"""A TCP server that speaks Kafka's frames and misbehaves as scripted: no real broker can be made to do so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio

from kproxy.errors import MalformedMessageError
from kproxy.upstream.frames import FrameSplitter
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker
from kproxy.wire.header import RequestHeader, decode_request_header, encode_response_header
from kproxy.wire.primitives import frame
from tests.support.wait import GENEROUS

API_VERSIONS = 18
METADATA = 3

Behaviour = Callable[["ScriptedBroker", trio.SocketStream, RequestHeader], Awaitable[None]]


class ScriptedBroker:
    """Serves ApiVersions and Metadata properly, unless `script` has another behaviour for the api key."""

    def __init__(self, *, newest_hello: int = 4, metadata: tuple[int, int] = (0, 12)) -> None:
        self.script: dict[int, Behaviour] = {}
        self.answer = MetadataResponse(cluster_id="scripted", controller_id=1)
        self.seen: list[RequestHeader] = []
        self.topics_asked: set[str] = set()
        """The names of topics in all Metadata requests."""
        self.accepted = 0
        self.port = 0
        self._newest_hello = newest_hello
        self._metadata = metadata
        self._streams: set[trio.SocketStream] = set()

    @property
    def address(self) -> tuple[str, int]:
        """The address that it listens at."""
        return "127.0.0.1", self.port

    @property
    def open(self) -> int:
        """Connections that neither side has closed."""
        return len(self._streams)

    def name_nodes(self, nodes: dict[int, tuple[str, int]]) -> None:
        """Set what Metadata answers from now on."""
        self.answer.brokers = [MetadataResponseBroker(node_id, *address) for node_id, address in nodes.items()]

    def offer_metadata(self, low: int, high: int) -> None:
        """Set the versions of Metadata that later connections are advertised."""
        self._metadata = (low, high)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Listen until cancelled, at the same port when it ran before; then close every connection."""
        listeners = await trio.open_tcp_listeners(self.port, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        task_status.started()
        await trio.serve_listeners(self._serve, listeners)

    async def drop(self) -> None:
        """Close all connections, as a broker that restarts does."""
        for stream in list(self._streams):
            await stream.aclose()

    def requests(self, api_key: int) -> int:
        """Return how many requests of an API came."""
        return sum(header.api_key == api_key for header in self.seen)

    async def good(self, stream: trio.SocketStream, header: RequestHeader) -> None:
        """Answer as a broker does."""
        await stream.send_all(self.response(header))

    def response(self, header: RequestHeader, *, shift: int = 0) -> bytes:
        """Return the proper response's frame, with its correlation id moved by `shift`."""
        version = header.api_version
        body = self._hello(version) if header.api_key == API_VERSIONS else self.answer.encode(version)
        return frame(encode_response_header(header.correlation_id + shift, header.api_key, version), body)

    def _hello(self, version: int) -> bytes:
        keys = [ApiVersion(METADATA, *self._metadata), ApiVersion(API_VERSIONS, 0, self._newest_hello)]
        if version > self._newest_hello:
            return ApiVersionsResponse(error_code=35, api_keys=keys[1:]).encode(0)
        return ApiVersionsResponse(api_keys=keys).encode(version)

    async def _serve(self, stream: trio.SocketStream) -> None:
        self.accepted += 1
        self._streams.add(stream)
        splitter = FrameSplitter(2**20)
        try:
            while data := await stream.receive_some():
                for request in splitter.feed(data):
                    await self._handle(stream, request)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self._streams.discard(stream)

    async def _handle(self, stream: trio.SocketStream, request: bytes) -> None:
        header, body = decode_request_header(request, 0, len(request))
        self.seen.append(header)
        if header.api_key == METADATA:
            with suppress(MalformedMessageError):
                asked = MetadataRequest.decode(memoryview(request)[body:], header.api_version)
                self.topics_asked.update(topic.name or "" for topic in asked.topics or ())
        await self.script.get(header.api_key, ScriptedBroker.good)(self, stream, header)


async def silent(_broker: ScriptedBroker, _stream: trio.SocketStream, _header: RequestHeader) -> None:
    """Never answer."""


async def closing(_broker: ScriptedBroker, stream: trio.SocketStream, _header: RequestHeader) -> None:
    """Close instead of answering."""
    await stream.aclose()


async def torn(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
    """Send half of the answer and close."""
    response = broker.response(header)
    await stream.send_all(response[: len(response) // 2])
    await stream.aclose()


async def bytewise(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
    """Send the answer in single bytes."""
    for byte in broker.response(header):
        await stream.send_all(bytes([byte]))
        await trio.sleep(0.001)


async def misnumbered(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
    """Answer with another correlation id."""
    await stream.send_all(broker.response(header, shift=1))


async def unasked(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
    """Answer twice."""
    await stream.send_all(broker.response(header) + broker.response(header, shift=1))


def raw(data: bytes) -> Behaviour:
    """Send these bytes, whatever was asked."""

    async def behaviour(_broker: ScriptedBroker, stream: trio.SocketStream, _header: RequestHeader) -> None:
        await stream.send_all(data)

    return behaviour


def bodied(body: bytes) -> Behaviour:
    """Send a proper header and this body."""

    async def behaviour(_broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
        await stream.send_all(frame(head, body))

    return behaviour


async def eventually(true: Callable[[], bool], what: str, seconds: float = 10) -> None:
    """Wait until `true()`; AssertionError names `what` at the deadline."""
    seconds *= GENEROUS
    with trio.move_on_after(seconds):
        while not true():  # noqa: ASYNC110  (what is waited for has no event)
            await trio.sleep(0.005)
    assert true(), f"not within {seconds} s: {what}"
