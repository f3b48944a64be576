"""An OTLP/HTTP server that reads with opentelemetry-proto's types, and whose answers a test chooses."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import cramjam
import h11
import trio
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics

_DECODE: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "": bytes,
    "gzip": lambda body: bytes(cramjam.gzip.decompress(body)),
    "zstd": lambda body: bytes(cramjam.zstd.decompress(body)),
}


@dataclass
class Request:
    """One request as received."""

    target: str
    headers: dict[str, str]
    message: ExportMetricsServiceRequest


@dataclass
class Reply:
    """What to answer; `then_close` closes the connection without announcing it."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = ExportMetricsServiceResponse().SerializeToString()
    then_close: bool = False


class Hangup(Exception):
    """Raised by a behaviour to close the connection instead of answering."""


Behaviour = Callable[[Request], Reply]


class Collector:
    """Answers 200 unless `behaviour` says otherwise; keeps the requests that it accepted."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.behaviour: Behaviour = lambda _: Reply()
        self.requests: list[Request] = []
        self.taken: list[Request] = []
        self.accepted = 0
        self.port = 0
        self.tls = tls
        """For connections from now on."""

    @property
    def resources(self) -> list[ResourceMetrics]:
        """All accepted resources, in the order in which they came."""
        return [each for request in self.taken for each in request.message.resource_metrics]

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Listen until cancelled, at the same port as in an earlier run."""
        listeners = await trio.open_tcp_listeners(self.port, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        task_status.started()
        await trio.serve_listeners(self._serve, listeners)

    async def _serve(self, plain: trio.SocketStream) -> None:
        self.accepted += 1
        stream: trio.abc.Stream = plain
        if self.tls is not None:
            stream = trio.SSLStream(plain, self.tls, server_side=True, https_compatible=True)
        try:
            async with stream:
                http = h11.Connection(h11.SERVER)
                while await self._exchange(stream, http):
                    http.start_next_cycle()
        except (trio.BrokenResourceError, h11.RemoteProtocolError, Hangup):
            pass

    async def _exchange(self, stream: trio.abc.Stream, http: h11.Connection) -> bool:
        head, body = None, bytearray()
        while not isinstance(event := http.next_event(), h11.EndOfMessage):
            match event:
                case h11.NEED_DATA:
                    http.receive_data(bytes(await stream.receive_some(65536)))
                case h11.Request():
                    head = event
                case h11.Data(data=data):
                    body += data
                case h11.ConnectionClosed():
                    return False
        assert head is not None
        reply = self._reply(head, bytes(body))
        headers = [*reply.headers.items(), ("Content-Length", str(len(reply.body)))]
        events = (
            h11.Response(status_code=reply.status, headers=headers),
            h11.Data(data=reply.body),
            h11.EndOfMessage(),
        )
        await stream.send_all(b"".join(http.send(event) or b"" for event in events))
        return not reply.then_close and http.our_state is h11.DONE

    def _reply(self, head: h11.Request, body: bytes) -> Reply:
        headers = {name.decode(): value.decode() for name, value in head.headers}
        decoded = _DECODE[headers.get("content-encoding", "")](body)
        request = Request(head.target.decode(), headers, ExportMetricsServiceRequest.FromString(decoded))
        self.requests.append(request)
        reply = self.behaviour(request)
        if reply.status < 300:
            self.taken.append(request)
        return reply
