"""A small HTTP/1.1 client: it POSTs to one URL, on one connection that is kept; every wait has a deadline.

Each sending task of the `otlp` receiver has a client, and calls `post` for each batch of pushes.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import h11
import trio

import kproxy
from kproxy.config.address import join_host_port
from kproxy.observe.masking import mask_url
from kproxy.upstream.dial import open_tcp, reason

_CHUNK: Final = 16 * 1024
_MAX_ANSWER: Final = 64 * 1024
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")


class HttpError(Exception):
    """No HTTP answer: the message says from where, why, and what to do. The request may have arrived."""


class _EndedError(HttpError):
    """The connection ended without an answer."""


class Url(NamedTuple):
    """Where to POST."""

    secure: bool
    host: str
    port: int
    target: str
    """Path and query."""

    @property
    def where(self) -> str:
        """Return the URL without its query, which may be secret."""
        return f"{'https' if self.secure else 'http'}://{self.authority}{self.target.partition('?')[0]}"

    @property
    def authority(self) -> str:
        """Return host and port, as in the header Host."""
        return join_host_port(self.host, self.port)


def parse_url(text: str) -> Url:
    """Return the parsed URL. Raise ValueError unless it is http or https without user, password and fragment."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _no_endpoint(text) from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or parts.fragment or parts.username is not None:
        raise _no_endpoint(text)
    if not _PRINTABLE.fullmatch(text):
        raise _no_endpoint(text)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(parts.scheme == "https", parts.hostname, port or _DEFAULT_PORTS[parts.scheme], target)


def _no_endpoint(text: str) -> ValueError:
    shown = mask_url(text)
    return ValueError(f"{shown!r} is no endpoint; write http://host:4318/v1/metrics or https://…, secrets as headers")


class Answer(NamedTuple):
    """`headers` are by lower-case name; `body` is the first 64 KiB."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Sends one request at a time. `timeout` is in seconds: to connect, and again for each request with its answer."""

    def __init__(self, url: Url, *, tls: ssl.SSLContext | None = None, timeout: float = 10.0) -> None:
        """`tls` is for https; without it the system's certificate authorities are trusted."""
        self.url = url
        self._tls = tls
        self._timeout = timeout
        self._stream: trio.abc.Stream | None = None
        self._http = h11.Connection(h11.CLIENT)

    async def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send the body and return the answer. On HttpError the connection is closed, and the next call opens another.

        A server may have closed an idle connection, without harm: then the body is sent again on a new one.
        """
        idle = self._stream is not None
        try:
            return await self._post(body, headers)
        except _EndedError:
            if not idle:
                raise
            return await self._post(body, headers)

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        kept = False
        try:
            with trio.fail_after(self._timeout):
                stream = self._stream = self._stream or await self._connect()
            with trio.fail_after(self._timeout):
                answer = await self._exchange(stream, self._request(body, headers))
            kept = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
            if kept:
                self._http.start_next_cycle()
        except trio.TooSlowError as error:
            raise self._error(f"no answer within {self._timeout:g} s; check its load and the network") from error
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
        stream = await open_tcp(self.url.host, self.url.port)
        if not self.url.secure:
            return stream
        tls = trio.SSLStream(stream, self._tls or ssl.create_default_context(), server_hostname=self.url.host)
        try:
            await tls.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return tls

    def _request(self, body: bytes, headers: Mapping[str, str]) -> bytes:
        always = {
            "Host": self.url.authority,
            "User-Agent": f"kproxy/{kproxy.__version__}",
            "Content-Length": str(len(body)),
        }
        head = h11.Request(method="POST", target=self.url.target, headers=list((always | dict(headers)).items()))
        events = (head, h11.Data(data=body), h11.EndOfMessage())
        return b"".join(self._http.send(event) or b"" for event in events)

    async def _exchange(self, stream: trio.abc.Stream, request: bytes) -> Answer:
        try:
            await stream.send_all(request)
        except trio.BrokenResourceError:
            pass  # the server may have answered, as with 413, before it closed
        head = None
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
            elif isinstance(event, h11.Data):
                body += event.data[: _MAX_ANSWER - len(body)]
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None  # h11 gives no other order
                return Answer(head.status_code, _by_name(head), bytes(body))

    def _broken(self, error: trio.BrokenResourceError) -> HttpError:
        if isinstance(error.__cause__, ssl.SSLError):
            return self._error(f"TLS failed ({error.__cause__}); check the certificate and the authorities trusted")
        return _EndedError(f"{self.url.where}: it closed the connection; check its log")

    def _error(self, what: str) -> HttpError:
        return HttpError(f"{self.url.where}: {what}")


def _by_name(head: h11.Response) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
