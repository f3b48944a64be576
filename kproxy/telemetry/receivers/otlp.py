"""The `otlp` receiver: sends clients' metrics to a collector by OTLP/HTTP, as clients wrote them, with labels added.

`Fanout` calls `offer` for each push, and runs the tasks that send queued pushes, from start to end of kproxy.
"""

from __future__ import annotations

import math
import random
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import cramjam
import structlog
import trio

from kproxy.config.url import Url
from kproxy.delivery.batches import Verdict
from kproxy.delivery.queued import Queued
from kproxy.observe.logs import hidden
from kproxy.telemetry.payload import LARGE
from kproxy.telemetry.receivers.interface import MAX_BYTES, MAX_PUSHES, OTLP
from kproxy.telemetry.receivers.otlp_responses import complaint, retry_after, verdict
from kproxy.telemetry.receivers.resource import Labelling, labelled_parts
from kproxy.upstream.attempts import full_jitter
from kproxy.upstream.http import HttpClient, HttpError
from kproxy.upstream.trust import client_context

if TYPE_CHECKING:
    from kproxy.telemetry.payload import Push

log = structlog.get_logger("kproxy.telemetry")

BATCH_BYTES: Final = 4 * 2**20
"""The most bytes of payloads in one request. Collectors take 20 MiB. Gateways before them take 1 MiB: zstd and gzip
shrink a request to that."""

_BATCH_PUSHES: Final = 1000
_BACKOFF: Final = 0.5
_SHOWN: Final = 200  # characters of an error's body
_LONGEST_BACKOFF: Final = 30.0


class ContentEncoding(StrEnum):
    """The Content-Encoding of requests; NONE sends no such header."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


class _Labelled:
    """A push's payload with the client's attributes, which are `added` to a large one before it is sent."""

    __slots__ = ("added", "body", "client_id", "payload")

    def __init__(self, client_id: str | None, payload: bytes, added: bytes = b"") -> None:
        self.client_id = client_id
        self.payload = payload
        """What the queue counts; of a large push `body` has twice as much at most."""
        self.added = added
        self.body = payload


class Otlp(Queued[_Labelled]):
    """Sends queued pushes, many in a request; several requests at a time, each on a connection of its own."""

    content_types = frozenset({OTLP})

    def __init__(
        self,
        name: str,
        url: Url,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        compression: ContentEncoding = ContentEncoding.GZIP,
        tls: Callable[[], ssl.SSLContext] = client_context,
        constant: Mapping[str, str] = MappingProxyType({}),
        timeout: float = 10.0,
        retry_for: float = 300.0,
        linger: float = 0.2,
        connections: int = 2,
        max_pushes: int = MAX_PUSHES,
        max_bytes: int = MAX_BYTES,
        rand: Callable[[], float] = random.random,
    ) -> None:
        """Times are in seconds: pushes wait for others for `linger`, and are tried again for `retry_for`.

        `constant` attributes go with the client's. `tls` is as `HttpClient` takes it.
        """
        super().__init__(name, max_items=max_pushes, max_bytes=max_bytes)
        self._url = url
        self._headers = {"Content-Type": "application/x-protobuf", **headers}
        if compression is not ContentEncoding.NONE:
            self._headers["Content-Encoding"] = compression.value
        self._encode = _ENCODERS[compression]
        self._tls = tls
        self._timeout = timeout
        self._retry_for = retry_for
        self._linger = linger
        self._connections = connections
        self._rand = rand
        self._labelling = Labelling(constant)
        self._complaining = False
        self._not_before = -math.inf
        """When the server takes the next request, as its last Retry-After says."""

    def offer(self, push: Push) -> bool:  # type: ignore[override]  # it queues what it makes of them
        """Label a push and queue the result: a batch is then only concatenated, which delays nobody.

        Labelling a large one takes up to 100 ms; that waits until it is sent, and is done part by part.
        """
        client_id = push.info.client_id
        if len(push.payload) >= LARGE:
            return super().offer(_Labelled(client_id, push.payload, self._labelling.added(push.info)))
        try:
            payload = self._labelling.labelled(push)
        except ValueError as error:
            self.counters.offered += 1
            self.counters.drop("malformed")
            self.failed(f"a push of {client_id!r} is dropped: {error}")
            return False
        return super().offer(_Labelled(client_id, payload))

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Send until cancelled; then requests under way go back into the queue."""
        try:
            async with trio.open_nursery() as nursery:
                for _ in range(self._connections):
                    nursery.start_soon(self._send_all)
                task_status.started()
        finally:
            self.give_back()

    async def _send_all(self) -> None:
        client = HttpClient(self._url, tls=self._tls, timeout=self._timeout)
        try:
            while True:
                taken = await self.take(max_items=_BATCH_PUSHES, max_bytes=BATCH_BYTES, linger=self._linger)
                if labelled := [each for each in taken if await self._label(each)]:
                    await self._deliver(client, labelled)
        finally:
            await client.aclose()

    async def _label(self, item: _Labelled) -> bool:
        """Add a large push's labels, part by part; return False for one that cannot have them, and is dropped."""
        if not item.added:
            return True
        labelled = []
        try:
            for part in labelled_parts(item.payload, item.added, self._labelling.names):
                labelled.append(part)
                await trio.lowlevel.checkpoint()
        except ValueError as error:
            self.failed(f"a push of {item.client_id!r} is dropped: {error}")
            self.dropped("malformed", item)
            return False
        item.body, item.added = b"".join(labelled), b""
        return True

    async def _deliver(self, client: HttpClient, labelled: Sequence[_Labelled]) -> None:
        match await self._outcome(client, labelled):
            case Verdict.DELIVERED:
                self.delivered(*labelled)
            case Verdict.AGAIN:
                self.dropped("late", *labelled)
            case Verdict.APART if len(labelled) > 1:
                half = len(labelled) // 2
                await self._deliver(client, labelled[:half])
                await self._deliver(client, labelled[half:])
            case _:
                self.dropped("refused", *labelled)

    def _body(self, labelled: Sequence[_Labelled]) -> bytes:
        return self._encode(b"".join([each.body for each in labelled]))

    async def _outcome(self, client: HttpClient, labelled: Sequence[_Labelled]) -> Verdict:
        """Send one request until its verdict is not AGAIN, or until it may not be tried again; return the verdict."""
        body = await trio.to_thread.run_sync(self._body, labelled)
        give_up = trio.current_time() + self._retry_for
        failures = 0
        while await self._may_send(give_up):
            self.counters.retries += failures > 0
            outcome, wait = await self._attempt(client, body)
            if outcome is not Verdict.AGAIN:
                return outcome
            failures += 1
            backoff = full_jitter(failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF)
            self._not_before = max(self._not_before, trio.current_time() + wait)
            if trio.current_time() + backoff > give_up:
                break
            await trio.sleep(backoff)
        return Verdict.AGAIN

    async def _may_send(self, give_up: float) -> bool:
        """Wait until the server takes requests again, as it has said, on whatever connection; False at `give_up`."""
        while (until := min(self._not_before, give_up)) > trio.current_time():  # noqa: ASYNC110 - others move it
            await trio.sleep_until(until)
        return self._not_before <= trio.current_time()

    async def _attempt(self, client: HttpClient, body: bytes) -> tuple[Verdict, float]:
        """Send one request once. Return the verdict, and the seconds that the server asks to wait before the next."""
        try:
            answer = await client.post(body, self._headers)
        except HttpError as error:
            self.failed(str(error))
            return Verdict.AGAIN, 0.0
        found = verdict(answer.status)
        if found is Verdict.DELIVERED:
            self.recovered()
            self._note_complaint(complaint(answer.body))
        else:
            said = hidden(answer.body.decode("utf-8", "replace"))  # some gateways repeat the request
            self.failed(f"{self._url.where} answers {answer.status}: {said[:_SHOWN]}")
        return found, retry_after(answer.headers, time.time()) or 0.0

    def _note_complaint(self, said: str | None) -> None:
        """Log what the server rejects of requests that it accepts, once until it rejects nothing any more."""
        if said is not None:
            self.counters.last_error = said
            if not self._complaining:
                log.warning("delivered, but not all is taken", to=self.name, error=hidden(said))
        self._complaining = said is not None


_ENCODERS: Final[Mapping[ContentEncoding, Callable[[bytes], bytes]]] = MappingProxyType(
    {
        ContentEncoding.NONE: lambda payload: payload,
        ContentEncoding.GZIP: lambda payload: bytes(cramjam.gzip.compress(payload, level=1)),
        ContentEncoding.ZSTD: lambda payload: bytes(cramjam.zstd.compress(payload, level=3)),
    }
)
