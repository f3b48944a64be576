"""A small HTTP/1.1 client of one URL, on one connection that is kept; every wait has a deadline.

Each sending task of the `otlp` receiver has a client, and calls `post` for each batch of pushes. kproxy's own token and
the keys of clients' tokens are fetched with a client each time, and so is Kubernetes' API server asked. Redirects are
not followed: only the configured URL counts.
"""

from __future__ import annotations

import select
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

import h11
import trio

import kproxy
from kproxy.config.tls import UpstreamTls
from kproxy.config.url import Url
from kproxy.upstream.dial import Dial, open_tcp, reason
from kproxy.upstream.tls import BrokerContext
from kproxy.upstream.trust import client_context

_CHUNK: Final = 16 * 1024
_OK: Final = 200
MAX_ANSWER: Final = 64 * 1024
"""Bytes of an answer's body that are kept, where a client says nothing else."""
TIMEOUT: Final = 10.0


class HttpError(Exception):
    """No HTTP answer: the message says from where, why, and what to do. The request may have arrived."""


class _EndedError(HttpError):
    """The connection ended without an answer."""


class Answer(NamedTuple):
    """`headers` are by lower-case name; `body` is the first 64 KiB, or what the client keeps."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool = True
    """False when the body was longer."""


class _Taker(NamedTuple):
    """Takes the answer's body as it comes, for this many seconds beyond the timeout."""

    take: Callable[[bytes], None]
    seconds: float


@asynccontextmanager
async def client_of(
    url: Url, ca: str | None, key: str, max_answer: int, limit: float = TIMEOUT
) -> AsyncIterator[HttpClient]:
    """Yield a client, which is closed at the end; https is trusted by the authorities in `ca`, else the system's.

    `key` names the settings; `limit` is its timeout. Raises `ConfigError` for `ca`.
    """
    dial: Dial = open_tcp
    if url.secure:
        dial = (await trio.to_thread.run_sync(BrokerContext, UpstreamTls(ca=ca), key)).stream
    client = HttpClient(url, dial=dial, timeout=limit, max_answer=max_answer)
    try:
        yield client
    finally:
        await client.aclose()


class HttpClient:
    """Sends one request at a time. `timeout` is in seconds: to connect, and again for each request with its answer."""

    def __init__(
        self,
        url: Url,
        *,
        tls: Callable[[], ssl.SSLContext] = client_context,
        dial: Dial | None = None,
        timeout: float = TIMEOUT,
        max_answer: int = MAX_ANSWER,
    ) -> None:
        """`tls` makes what https takes for each connection, in a thread, and may raise OSError and ValueError.

        Without it the system's certificate authorities are trusted. `dial` connects in place of all that, TLS included.
        `max_answer` is in bytes of a body.
        """
        self.url = url
        self._tls = tls
        self._dial = dial or self._open
        self._timeout = timeout
        self._max_answer = max_answer
        self._stream: trio.abc.Stream | None = None
        self._http = h11.Connection(h11.CLIENT)

    async def get(self, headers: Mapping[str, str]) -> Answer:
        """Return the answer to a GET; otherwise as `post`."""
        return await self._ask("GET", b"", headers)

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send the body and return the answer. On HttpError the connection is closed, and the next call opens another.

        A server may have closed an idle connection, without harm: then the body is sent again on a new one.
        """
        return await self._ask("POST", body, headers)

    async def patch(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Return the answer to a PATCH; otherwise as `post`."""
        return await self._ask("PATCH", body, headers)

    async def stream(self, headers: Mapping[str, str], take: Callable[[bytes], None], seconds: float) -> Answer:
        """As `get`, for an answer that may come bit by bit for `seconds` longer: with status 200 `take` gets each bit.

        What `take` raises ends the request.
        """
        return await self._ask("GET", b"", headers, _Taker(take, seconds))

    async def _ask(self, method: str, body: bytes, headers: Mapping[str, str], taker: _Taker | None = None) -> Answer:
        if self._stream is not None and _has_said(self._stream):  # its end, or an answer that nobody has asked for
            await self.aclose()
        idle = self._stream is not None
        try:
            return await self._once(method, body, headers, taker)
        except _EndedError:
            if not idle:
                raise
            return await self._once(method, body, headers, taker)

    async def _once(self, method: str, body: bytes, headers: Mapping[str, str], taker: _Taker | None) -> Answer:
        kept, limit = False, self._timeout + (0.0 if taker is None else taker.seconds)
        try:
            with trio.fail_after(self._timeout):
                stream = self._stream = self._stream or await self._connect()
            with trio.fail_after(limit):
                answer = await self._exchange(stream, self._request(method, body, headers), taker)
            done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
            kept = done and self._http.trailing_data == (b"", False)  # what follows is no answer to what is asked next
            if kept:
                self._http.start_next_cycle()
        except trio.TooSlowError as error:
            raise self._error(f"no answer within {limit:g} s; check its load and the network") from error
        except OSError as error:
            raise self._error(f"cannot connect: {reason(error)}; check that it runs and the address") from error
        except trio.BrokenResourceError as error:
            raise self._broken(error) from error
        except (h11.LocalProtocolError, UnicodeError):
            # Their text has the header at fault, which may be secret.
            raise self._error("no HTTP/1.1 request can be made of its URL and headers; check them") from None
        except h11.RemoteProtocolError as error:
            raise self._error(f"no HTTP/1.1 answer ({error}); check scheme and port, and its log") from error
        finally:
            if not kept:
                await self.aclose()
        return answer

    async def aclose(self) -> None:
        """Close the connection, if there is one, at once: nobody waits for its remaining bytes."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await trio.aclose_forcefully(stream)

    async def _connect(self) -> trio.abc.Stream:
        self._http = h11.Connection(h11.CLIENT)
        return await self._dial(self.url.host, self.url.port)

    async def _open(self, host: str, port: int) -> trio.abc.Stream:
        if not self.url.secure:
            return await open_tcp(host, port)
        context = await self._context()
        stream = await open_tcp(host, port)
        # Many servers end an idle connection without a close_notify; an answer says its own length.
        tls = trio.SSLStream(stream, context, server_hostname=host, https_compatible=True)
        try:
            await tls.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return tls

    async def _context(self) -> ssl.SSLContext:
        try:
            return await trio.to_thread.run_sync(self._tls)
        except (OSError, ValueError) as error:
            raise self._error(f"TLS cannot be set up ({error}); check the files of its settings") from error

    def _request(self, method: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        always = {"Host": self.url.authority, "User-Agent": f"kproxy/{kproxy.__version__}"}
        if method != "GET":
            always["Content-Length"] = str(len(body))
        head = h11.Request(method=method, target=self.url.target, headers=list((always | dict(headers)).items()))
        events = (head, h11.Data(data=body), h11.EndOfMessage())
        return b"".join(self._http.send(event) or b"" for event in events)

    async def _exchange(self, stream: trio.abc.Stream, request: bytes, taker: _Taker | None) -> Answer:
        try:
            await stream.send_all(request)
        except trio.BrokenResourceError:
            pass  # the server may have answered, as with 413, before it closed
        head, whole = None, True
        body = bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                data = bytes(await stream.receive_some(_CHUNK))
                if not data and head is None:
                    raise trio.BrokenResourceError("closed before an answer")
                self._http.receive_data(data)
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data) and taker is not None and head is not None and head.status_code == _OK:
                taker.take(bytes(event.data))
            elif isinstance(event, h11.Data):
                room = self._max_answer - len(body)
                whole = whole and len(event.data) <= room
                body += event.data[:room]
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None  # h11 gives no other order
                return Answer(head.status_code, _by_name(head), bytes(body), whole)

    def _broken(self, error: trio.BrokenResourceError) -> HttpError:
        if isinstance(error.__cause__, ssl.SSLError):
            return self._error(f"TLS failed ({error.__cause__}); check the certificate and the authorities trusted")
        return _EndedError(f"{self.url.where}: it closed the connection; check its log")

    def _error(self, what: str) -> HttpError:
        return HttpError(f"{self.url.where}: {what}")


def _has_said(stream: trio.abc.Stream) -> bool:
    """Return whether bytes, or the end, have come on a connection that was idle."""
    below = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    if not isinstance(below, trio.SocketStream):
        return False
    looked = select.poll()
    looked.register(below.socket.fileno(), select.POLLIN)
    return bool(looked.poll(0))


def _by_name(head: h11.Response) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
