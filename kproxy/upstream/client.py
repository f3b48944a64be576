"""The upstream client: it reaches brokers by node id, or any reachable one when the id does not matter.

kproxy's own requests go through it, relayed ones do not. The watcher of an upstream cluster has a client, and so has
each destination that writes to a topic.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, TypeVar

import trio

from kproxy.config.identity import Identity
from kproxy.errors import IdentityError, ShortageError, UpstreamError
from kproxy.observe.troubles import Troubles
from kproxy.upstream.attempts import Address, Candidate, fresh_first, ordered
from kproxy.upstream.broker import Broker
from kproxy.upstream.dial import Dial, open_tcp
from kproxy.upstream.handshake import Request
from kproxy.upstream.hellos import Hellos
from kproxy.upstream.session import Answer, Session, open_session
from kproxy.upstream.tokens import TokenCache
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse

Order = Callable[[Iterable[Candidate], float], list[Address]]
Described = TypeVar("Described")

MAX_RESPONSE_BYTES: Final = 32 * 2**20
"""Enough for the metadata of 100,000 partitions; it bounds what a broken peer can make kproxy hold."""


class UnknownNodeError(UpstreamError):
    """No metadata has named this node id so far."""


class UpstreamClient:
    """Sends kproxy's own requests to the brokers of one cluster; connections are opened at the first use and kept.

    `run` must be running. Timeouts are in seconds: `connect_timeout` for name, TCP and handshake together,
    `request_timeout` for each answer. Nothing is retried: only the caller knows what may be asked twice.
    """

    def __init__(
        self,
        bootstrap: Sequence[Address],
        *,
        connect_timeout: float = 10.0,
        request_timeout: float = 30.0,
        client_id: str = "kproxy",
        max_response_bytes: int = MAX_RESPONSE_BYTES,
        dial: Dial = open_tcp,
        rand: Callable[[], float] = random.random,
        troubles: Troubles | None = None,
        identity: Callable[[], Identity | None] = lambda: None,
        tokens: TokenCache | None = None,
        timeouts: Callable[[], tuple[float, float]] | None = None,
        hellos: Hellos | None = None,
        dialled: Callable[[Address, str | None], None] = lambda address, error: None,
    ) -> None:
        """`troubles` are the process'; by default they are the client's own.

        `timeouts` replaces `connect_timeout` and `request_timeout`, and is asked for both at each request.

        `identity` is asked for each new connection: with what kproxy authenticates there, None for not at all.
        `tokens` are those of all clients that have the identity; by default the client's own. `hellos` takes what
        brokers answer to ApiVersions. `dialled` is called after each attempt to open a connection, with what the broker
        did wrong, None where it answered; not where kproxy itself could not dial or authenticate.
        """
        self._identity = identity
        self._tokens = tokens or TokenCache()
        self._troubles = troubles or Troubles()
        self._bootstrap = frozenset(bootstrap)
        self._timeouts = timeouts or (lambda: (connect_timeout, request_timeout))
        self._client_id = client_id
        self._max_response = max_response_bytes
        self._dial = dial
        self._rand = rand
        self._nodes: dict[int, Address] = {}
        self._hellos = Hellos() if hellos is None else hellos
        self._dialled = dialled
        self._nursery: trio.Nursery | None = None
        # Shuffled, so that many proxies that start together do not all ask the first server of the list.
        shuffled = sorted(dict.fromkeys(bootstrap), key=lambda _: rand())
        self._brokers = {address: self._broker(address) for address in shuffled}

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the connections' tasks; end only when cancelled, with every socket closed."""
        try:
            async with trio.open_nursery() as self._nursery:
                task_status.started()
                await trio.sleep_forever()
        finally:
            self._nursery = None

    @property
    def nodes(self) -> Mapping[int, Address]:
        """The known nodes' addresses."""
        return MappingProxyType(self._nodes)

    def update(self, node_id: int, host: str, port: int) -> None:
        """Set a node's address as metadata now names it; when it moved, close the connection to the old address."""
        self.set_nodes({**self._nodes, node_id: (host, port)})

    def set_nodes(self, nodes: Mapping[int, Address]) -> None:
        """Set all nodes of the cluster; close connections to addresses that belong to none of its brokers any more."""
        self._nodes = dict(nodes)
        wanted = self._bootstrap.union(nodes.values())
        for address in [address for address in self._brokers if address not in wanted]:
            self._brokers.pop(address).close("the cluster no longer has a broker at this address")
        for address in nodes.values():
            if address not in self._brokers:
                self._brokers[address] = self._broker(address)

    async def request(
        self, message: Request, answer: type[Answer], *, node: int | None = None, limit: float | None = None
    ) -> Answer:
        """Return the answer of the node, or of any broker that can be connected to, decoded as `answer`.

        `limit` (seconds) replaces the request timeout and, when it is shorter, the connect timeout too. Raises
        UpstreamError: it says which broker, what went wrong and what to do.
        """
        request, connect = self._limits(limit)
        broker, session = await (self._any(connect) if node is None else self._one(node, connect))
        return await self._exchange(broker, session, message, answer, request)

    async def metadata(self, *, fresh: bool = False, limit: float | None = None) -> MetadataResponse:
        """Return the cluster's brokers, id and controller, from the first broker that answers; else as `described`."""
        return await self.described(lambda answer: answer, fresh=fresh, limit=limit)

    async def described(
        self, read: Callable[[MetadataResponse], Described], *, fresh: bool = False, limit: float | None = None
    ) -> Described:
        """Return what `read` makes of a broker's Metadata, without topics: of the first answer that it takes.

        `fresh`: the bootstrap servers come first, in turn, each on a new connection that replaces the present one: its
        name is resolved again, and may lead elsewhere. `limit` (seconds) bounds each broker's connect and answer; then
        the next one is asked, and so it is when `read` raises UpstreamError for an answer. Raises UpstreamError with
        what each of them did.
        """
        request, connect = self._limits(limit)
        errors: list[UpstreamError] = []
        for broker in self._in_order(fresh_first if fresh else ordered):
            asked = partial(self._describe, broker, request)
            try:
                if fresh and broker.bootstrap:
                    return read(await broker.renew(connect, asked))
                return read(await asked(await broker.session(connect)))
            except UpstreamError as error:
                errors.append(error)
        raise _nobody(errors)

    async def _describe(self, broker: Broker, limit: float, session: Session) -> MetadataResponse:
        message = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        return await self._exchange(broker, session, message, MetadataResponse, limit)

    def _limits(self, limit: float | None) -> tuple[float, float]:
        connect, request = self._timeouts()
        request = request if limit is None else limit
        return request, min(request, connect)

    async def _exchange(
        self, broker: Broker, session: Session, message: Request, answer: type[Answer], limit: float
    ) -> Answer:
        try:
            response = await session.request(message, answer, limit)
        except UpstreamError as error:
            if not session.live:
                broker.broke(session, str(error))
            raise
        broker.succeeded()
        return response

    async def _one(self, node: int, connect: float) -> tuple[Broker, Session]:
        address = self._nodes.get(node)
        if address is None:
            raise UnknownNodeError(f"node {node} is not known; refresh the metadata, known are {sorted(self._nodes)}")
        broker = self._brokers[address]
        return broker, await broker.session(connect)

    async def _any(self, connect: float) -> tuple[Broker, Session]:
        errors: list[UpstreamError] = []
        for broker in self._in_order():
            try:
                return broker, await broker.session(connect)
            except UpstreamError as error:
                errors.append(error)
        raise _nobody(errors)

    def _in_order(self, order: Order = ordered) -> Iterator[Broker]:
        candidates = [broker.candidate() for broker in self._brokers.values()]
        # A broker may leave the map while an earlier one is tried.
        yield from [self._brokers[address] for address in order(candidates, trio.current_time())]

    def _broker(self, address: Address) -> Broker:
        return Broker(address, self._open, self._rand, bootstrap=address in self._bootstrap)

    async def _open(self, address: Address, limit: float) -> Session:
        if self._nursery is None:
            raise UpstreamError("the upstream client does not run: start UpstreamClient.run before the first request")
        try:
            session = await open_session(
                address,
                self._dial,
                self._nursery,
                connect_timeout=limit,
                client_id=self._client_id,
                max_response=self._max_response,
                troubles=self._troubles,
                identity=self._identity(),
                tokens=self._tokens,
            )
        except UpstreamError as error:
            if not isinstance(error, ShortageError | IdentityError):
                self._dialled(address, str(error))
            raise
        self._dialled(address, None)
        self._hellos.note(address, session.hello)
        return session


def _nobody(errors: Sequence[UpstreamError]) -> UpstreamError:
    """Join the brokers' errors. One that kproxy could not dial might have answered, and one that refused it did."""
    kinds = (kind for kind in (ShortageError, IdentityError) if any(isinstance(each, kind) for each in errors))
    kind = next(kinds, UpstreamError)
    what = "no broker can be asked" if kind is IdentityError else "no broker answers"
    return kind(f"{what}: {' | '.join(map(str, errors))}")
