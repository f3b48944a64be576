"""A process under test, run in this process: tests use its admin port over HTTP, and its ports with a simple client."""

from __future__ import annotations

import json
import os
import signal
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio

from kproxy.app.process import Process
from kproxy.config import Config
from kproxy.local_kafka.ports import free_port
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import frame
from tests.support.file_limit import file_limit_restored
from tests.unit.admin.raw import exchange, fetch, replies
from tests.unit.relay.sockets import Peer, eventually, open_files
from tests.unit.upstream.scripted_broker import Behaviour, ScriptedBroker

HOST = "127.0.0.1"
METADATA, HEARTBEAT, API_VERSIONS = 3, 12, 18


def settings(*brokers: ScriptedBroker, **others: Any) -> Config:
    """Return settings of one virtual cluster for each broker, named c0, c1, ...; ports are free ones by default."""
    clusters = [
        {
            "name": f"c{index}",
            "bootstrap_servers": f"{HOST}:{broker.port}",
            "listen": f"{HOST}:0",
            "nodes": {"first_port": 0},
        }
        for index, broker in enumerate(brokers)
    ]
    return Config.model_validate(
        {"clusters": clusters, "admin": f"{HOST}:{free_port()}", "topology": {"interval": "100ms"}} | others
    )


def named_itself(broker: ScriptedBroker, *node_ids: int) -> ScriptedBroker:
    """Return a broker that says that all nodes are at its own address."""
    broker.name_nodes(dict.fromkeys(node_ids, broker.address))
    return broker


def once(event: trio.Event) -> Behaviour:
    """Return a behaviour that answers properly once the event has happened."""

    async def behaviour(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        await event.wait()
        await stream.send_all(broker.response(header))

    return behaviour


class Client(Peer):
    """A minimal Kafka client."""

    @classmethod
    async def connected(cls, port: int) -> Client:
        stream = await trio.open_tcp_stream(HOST, port)
        made = cls.__new__(cls)
        made.stream = stream
        return made

    async def ask(self, header: RequestHeader, body: bytes) -> bytes:
        """Send a request; return the body of its response after the correlation id."""
        await self.send(frame(encode_request_header(header), body))
        return await self.answer(header.correlation_id)

    async def answer(self, correlation_id: int) -> bytes:
        """Return the next response, which must be this one."""
        (size,) = struct.unpack(">i", await self.receive(4))
        data = await self.receive(size)
        assert struct.unpack_from(">i", data) == (correlation_id,)
        return data[4:]

    async def introduce(self, name: str, version: str, client_id: str = "app") -> None:
        """Send ApiVersions v3 and read the answer, as every client begins (KIP-511)."""
        await self.say_hello(name, version, client_id)
        await self.answer(1)

    async def say_hello(self, name: str, version: str, client_id: str = "app") -> None:
        """As `introduce`, without waiting for the answer."""
        body = ApiVersionsRequest(client_software_name=name, client_software_version=version).encode(3)
        await self.send(frame(encode_request_header(RequestHeader(API_VERSIONS, 3, 1, client_id)), body))

    async def send_metadata(self, correlation_id: int) -> None:
        """Ask for the nodes; `nodes` reads the answer."""
        head = encode_request_header(RequestHeader(METADATA, 8, correlation_id, "app"))
        await self.send(frame(head, MetadataRequest(topics=[]).encode(8)))

    async def nodes(self, correlation_id: int) -> dict[int, tuple[str, int]]:
        """Return the addresses of the nodes as a client gets them."""
        response = MetadataResponse.decode(await self.answer(correlation_id), 8)
        return {broker.node_id: (broker.host, broker.port) for broker in response.brokers}


class Living:
    """A process that has started; `code` is its exit code once it has ended."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.code: int | None = None
        self.over = trio.Event()
        admin = process.config.admin
        assert admin is not None
        self.listens = str(admin.listen)
        self.admin = admin.listen.port
        self.config = process.config
        self._clients: list[Client] = []

    async def run(self) -> None:
        try:
            self.code = await self.process.live()
        finally:
            self.over.set()

    def port(self, index: int = 0) -> int:
        """The port at which a cluster's clients bootstrap."""
        return self.process.clusters[index].listeners.listen[1]

    async def client(self, port: int | None = None) -> Client:
        """Return a client, by default at the first cluster's bootstrap port."""
        self._clients.append(await Client.connected(port or self.port()))
        return self._clients[-1]

    async def get(self, path: str) -> Any:
        """Return JSON from the admin port."""
        return (await fetch(self.admin, path)).json()

    async def post(self, path: str, content: object, method: str = "POST") -> tuple[int, Any]:
        """Return status and JSON of the admin port's answer to a request with JSON."""
        body = json.dumps(content)
        head = f"{method} {path} HTTP/1.1\r\nHost: kproxy\r\nConnection: close\r\nContent-Type: application/json"
        sent = f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        (reply,) = replies(await exchange(self.admin, sent), method)
        return reply.status, reply.json()

    async def text(self, path: str) -> str:
        """Return text from the admin port."""
        return (await fetch(self.admin, path)).body.decode()

    async def until_state(self, state: str) -> Any:
        """Wait until /readyz has this state; return its answer."""
        with trio.fail_after(60):
            while (answer := await self.get("/readyz"))["state"] != state:  # noqa: ASYNC110 (asked over HTTP)
                await trio.sleep(0.02)
        return answer

    def signal(self) -> None:
        """Send SIGTERM to this process."""
        os.kill(os.getpid(), signal.SIGTERM)

    async def close(self) -> None:
        for client in self._clients:
            await client.close()


@asynccontextmanager
async def living(config: Config) -> AsyncIterator[Living]:
    """Yield a process that has started; afterwards it has ended, and no descriptor is left."""
    before = open_files()
    made: Living
    with file_limit_restored(), trio.fail_after(60):
        made = Living(Process(config, lambda: made.config))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.run)
            try:
                await eventually(lambda: made.process.started or made.over.is_set(), "the start")
                yield made
            finally:
                with trio.CancelScope(shield=True):
                    await made.close()
                nursery.cancel_scope.cancel()
    await eventually(lambda: open_files() <= before, "descriptors are closed")


@asynccontextmanager
async def brokers(*nodes: tuple[int, ...]) -> AsyncIterator[list[ScriptedBroker]]:
    """Yield running brokers; each says that the given nodes are at its own address."""
    made = [ScriptedBroker() for _ in nodes]
    async with trio.open_nursery() as nursery:
        for broker, ids in zip(made, nodes, strict=True):
            await nursery.start(broker.run)
            named_itself(broker, *ids)
        yield made
        nursery.cancel_scope.cancel()
