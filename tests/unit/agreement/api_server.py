"""A small API server of Kubernetes over TLS: ConfigMaps of one namespace, with versions, patches and watches."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import h11
import trio

from kproxy.upstream.kubernetes import ApiServer
from tests.support.authority import Authority

HOST: Final = "127.0.0.1"
CONFIG_MAPS: Final = "/api/v1/namespaces/messaging/configmaps"


@dataclass
class Request:
    """One request as received."""

    method: str
    path: str
    query: dict[str, str]
    kind: str
    token: str
    body: Any

    @property
    def verb(self) -> str:
        """What RBAC calls it."""
        return "watch" if "watch" in self.query else self.method.lower()


Reply = tuple[int, bytes]


class FakeApiServer:
    """Takes the token of the service account; `behaviour` may answer a request in place of it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.behaviour: Callable[[Request], Reply | None] = lambda _: None
        self.requests: list[Request] = []
        self.port = 0
        self.maps: dict[str, dict[str, Any]] = {}
        self._version = 0
        self._watches: list[tuple[str, trio.MemorySendChannel[bytes]]] = []
        authority = Authority(directory)
        own = authority.signed("api", f"IP:{HOST}")
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._tls.load_cert_chain(own.chain, own.key)
        (directory / "ca.crt").write_bytes(authority.file.read_bytes())
        (directory / "namespace").write_text("messaging")
        self.token = "first"
        self.renew(self.token)

    def renew(self, token: str) -> None:
        """Take this token only from now on, as the file says."""
        self.token = token
        (self.directory / "token").write_text(f"{token}\n")

    @property
    def client(self) -> ApiServer:
        """How a pod sees it."""
        where = {"KUBERNETES_SERVICE_HOST": HOST, "KUBERNETES_SERVICE_PORT": str(self.port)}
        return ApiServer(where | {"KUBERNETES_SERVICE_ACCOUNT_DIR": str(self.directory)})

    @property
    def verbs(self) -> list[str]:
        """Of all requests, in order."""
        return [request.verb for request in self.requests]

    @property
    def watches(self) -> int:
        """How many are open."""
        return len(self._watches)

    def put(self, name: str, data: dict[str, str]) -> dict[str, Any]:
        """Store a ConfigMap with these data, as somebody else may."""
        self._version += 1
        kind = "MODIFIED" if name in self.maps else "ADDED"
        metadata = {"name": name, "resourceVersion": str(self._version)}
        self.maps[name] = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data}
        self.tell(name, kind, self.maps[name])
        return self.maps[name]

    def delete(self, name: str) -> None:
        """Delete a ConfigMap."""
        self.tell(name, "DELETED", self.maps.pop(name))

    def tell(self, name: str, kind: str, found: dict[str, Any]) -> None:
        """Send an event to whoever watches."""
        self.send(name, json.dumps({"type": kind, "object": found}).encode() + b"\n")

    def send(self, name: str, data: bytes) -> None:
        """Send bytes to whoever watches."""
        for watched, channel in self._watches:
            if watched == name:
                channel.send_nowait(data)

    def end_watches(self) -> None:
        """End all watches, as after their timeoutSeconds."""
        for _, channel in self._watches:
            channel.close()
        self._watches.clear()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Listen until cancelled."""
        listeners = await trio.open_tcp_listeners(0, host=HOST)
        self.port = listeners[0].socket.getsockname()[1]
        task_status.started()
        await trio.serve_listeners(self._serve, listeners)

    async def _serve(self, plain: trio.SocketStream) -> None:
        stream = trio.SSLStream(plain, self._tls, server_side=True, https_compatible=True)
        try:
            async with stream:
                await self._exchange(stream)
        except trio.BrokenResourceError:
            pass

    async def _exchange(self, stream: trio.abc.Stream) -> None:
        http = h11.Connection(h11.SERVER)
        request = await _received(stream, http)
        self.requests.append(request)
        reply = self.behaviour(request) or self._reply(request)
        if reply is None:
            await self._watch(request, stream, http)
            return
        head = h11.Response(status_code=reply[0], headers=[("Content-Length", str(len(reply[1])))])
        events = (head, h11.Data(data=reply[1]), h11.EndOfMessage())
        await stream.send_all(b"".join(http.send(event) or b"" for event in events))

    def _reply(self, request: Request) -> Reply | None:
        """Return the answer; None for a watch that begins."""
        if request.token != self.token:
            return status(401, "Unauthorized")
        if request.verb == "watch":
            return None
        name = request.path.removeprefix(f"{CONFIG_MAPS}/")
        if request.method == "PATCH":
            return self._patched(name, request)
        return (200, json.dumps(self.maps[name]).encode()) if name in self.maps else _absent(name)

    def _patched(self, name: str, request: Request) -> Reply:
        assert request.query["fieldManager"] == "kproxy"
        if request.kind == "application/apply-patch+yaml":
            assert request.query["force"] == "true"
            assert request.body["metadata"]["name"] == name
            found = (200, self.maps[name]) if name in self.maps else (201, self.put(name, {}))
            return found[0], json.dumps(found[1]).encode()
        assert request.kind == "application/merge-patch+json"
        if name not in self.maps:
            return _absent(name)
        if request.body["metadata"]["resourceVersion"] != self.maps[name]["metadata"]["resourceVersion"]:
            return status(409, "the object has been modified")
        return 200, json.dumps(self.put(name, self.maps[name]["data"] | request.body["data"])).encode()

    async def _watch(self, request: Request, stream: trio.abc.Stream, http: h11.Connection) -> None:
        key, _, name = request.query["fieldSelector"].partition("=")
        assert (request.path, key) == (CONFIG_MAPS, "metadata.name")
        channel, events = trio.open_memory_channel[bytes](100)
        now = self.maps.get(name)
        if now is not None and int(now["metadata"]["resourceVersion"]) > int(request.query["resourceVersion"]):
            channel.send_nowait(json.dumps({"type": "MODIFIED", "object": now}).encode() + b"\n")
        self._watches.append((name, channel))
        head = h11.Response(status_code=200, headers=[("Transfer-Encoding", "chunked")])
        await stream.send_all(http.send(head) or b"")
        async for event in events:
            if not event:
                return  # breaks off, as a server that ends
            await stream.send_all(http.send(h11.Data(data=event)) or b"")
        await stream.send_all(http.send(h11.EndOfMessage()) or b"")


def status(code: int, message: str) -> Reply:
    """Return a refusal as the API server writes it."""
    return code, json.dumps({"kind": "Status", "status": "Failure", "message": message, "code": code}).encode()


def _absent(name: str) -> Reply:
    return status(404, f'configmaps "{name}" not found')


async def _received(stream: trio.abc.Stream, http: h11.Connection) -> Request:
    head, body = None, b""
    while not isinstance(event := http.next_event(), h11.EndOfMessage):
        match event:
            case h11.NEED_DATA:
                data = bytes(await stream.receive_some(65536))
                if not data:
                    raise trio.BrokenResourceError("nothing was asked")
                http.receive_data(data)
            case h11.Request():
                head = event
            case h11.Data(data=data):
                body += bytes(data)
    assert head is not None
    headers = {name.decode(): value.decode() for name, value in head.headers}
    target = urlsplit(head.target.decode())
    query = {name: values[0] for name, values in parse_qs(target.query).items()}
    token = headers["authorization"].removeprefix("Bearer ")
    said = json.loads(body) if body else None
    return Request(head.method.decode(), target.path, query, headers.get("content-type", ""), token, said)
