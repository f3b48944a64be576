"""kproxy's login at a broker that ends sessions, again on the connection of a client, between its requests (KIP-368).

The pump starts `renew` for each connection whose session ends soon. `Destination.identify` authenticates through a
`Renewal`, as it does through a `BrokerLogin` before the connection is relayed.

A broker that authenticates kproxy anew takes no other request meanwhile. So the client's next requests are held from
the first question to the last answer. What the client has asked before is answered as ever, before the first answer.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeVar

import trio

from kproxy.errors import IdentityError, KproxyError, MalformedMessageError, UpstreamError
from kproxy.observe.counters import ApiCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import PASS_UNCHANGED, Route
from kproxy.relay.broker_dialogue import BrokerDialogue
from kproxy.relay.broker_login import CLOSED, decoded, question, silence
from kproxy.relay.in_flight import Expected
from kproxy.upstream.handshake import Request
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.message import WireMessage

if TYPE_CHECKING:
    from kproxy.protocol.outcomes import Incremental, Steps
    from kproxy.relay.connection import Connection
    from kproxy.relay.destination import Destination

Answer = TypeVar("Answer", bound=WireMessage)

_KEY: Final = ApiKey.SASL_HANDSHAKE
_ROUTE: Final = Route(APIS[_KEY], 1, PASS_UNCHANGED, ApiCounters(_KEY, 1))
"""Of each of kproxy's questions. None is counted: the client has not asked them."""
_NUMBER: Final = 1
"""The correlation id of each. One of the client's may have it, too: the broker answers in order."""
_SOONEST: Final = 1.1
"""Seconds between two logins: a broker takes one a second on a connection."""
# Not Final, for tests change it.
PATIENCE: float = 30.0
"""The least seconds that an answer may take: a broker that throttles kproxy's user reads nothing for so long."""


async def renew(connection: Connection, destination: Destination, at: float) -> None:
    """Authenticate again at a moment (seconds, monotonic). Where that fails, have the client connect again.

    Raises nothing but for cancellation.
    """
    await trio.sleep(max(0.0, at - time.monotonic()))
    if connection.ending:
        return
    try:
        await Renewal(connection).run(destination)
    except Exception as error:  # one connection's failure is never another's
        connection.pump.failed(connection.broker, error)


class Renewal:
    """Implements `kproxy.upstream.authentication.Asked` on a relayed connection, one request at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._where = connection.upstream
        self._may_ask = trio.Event()
        self._asked = False
        self._gone = False  # the broker has closed
        self._question: Expected | None = None  # the last one
        self._response: bytes | None = None
        self._answered = trio.Event()
        self._moved = self._moves  # until kproxy's turn, as the next
        self._progress = connection.progress

    async def run(self, destination: Destination) -> None:
        """Authenticate, or end the connection."""
        try:
            seconds = await destination.identify(self, self._where)
        except KproxyError as error:
            self._fail(error)
        else:
            if self._asked:
                self._succeed(seconds)
            else:
                self._fail(UpstreamError(f"{self._where}: kproxy has no `identity` any more"))
        finally:
            self._question = None  # it refers back to here
            self._release()

    async def request(self, message: Request, answer: type[Answer], limit: float) -> Answer:
        """Return the answer to `message`, within `limit` seconds at least. Raises UpstreamError."""
        await self._take_turn()
        self._ask(message)
        response = await self._answer(max(limit, PATIENCE))
        try:
            return decoded(response, message, answer)[1]
        except MalformedMessageError as error:
            raise UpstreamError(f"{self._where}: {error}") from error

    async def _take_turn(self) -> None:
        """Hold the client's next requests, and wait for the end of the present one; later calls find it so."""
        connection = self._connection
        if not self._may_ask.is_set():
            self._moved, self._progress = self._moves, connection.progress
            connection.renewal, connection.requests.suspended = self, True
            connection.resolved()
            self.look()  # it may have closed while a token was fetched
            await self._may_ask.wait()
        if self._gone:
            raise UpstreamError(f"{self._where}: {CLOSED}")
        if connection.ending or connection.context.stale:
            raise UpstreamError(f"{self._where}: the connection ends, or the topology has changed")

    def look(self) -> None:
        """As `Renewing`."""
        if self._connection.ending or self._connection.requests.between:
            self._may_ask.set()

    def _ask(self, message: Request) -> None:
        connection = self._connection
        self._response, self._answered = None, trio.Event()
        dialogue = BrokerDialogue(self._steps(question(message, _NUMBER)), self, own=True)
        dialogue.step(None)
        self._question = Expected(_NUMBER, _ROUTE, time.monotonic())
        self._asked = True
        connection.in_flight.append(self._question)
        try:
            connection.own.ask(self._question, dialogue)
        except Exception as error:  # as where the client's bytes are sent
            connection.pump.failed(connection.broker, error)

    def _steps(self, asked: bytes) -> Steps:
        try:
            self._response = yield asked
        finally:  # also when the connection ends before
            self._answered.set()
        return b""

    def go_on(self, now: float) -> None:
        """As `Waiting`: the client's requests wait for the last answer, not for each."""

    def wait_for(self, answer: Incremental) -> None:
        """As `Waiting`: there is none."""

    async def _answer(self, limit: float) -> bytes:
        """Return the broker's answer. What is before it in the queue, or a client that reads nothing, has its time."""
        answered = self._answered
        while not answered.is_set():
            with trio.move_on_after(limit):
                await answered.wait()
            if not answered.is_set() and self._is_overdue(limit):
                raise UpstreamError(f"{self._where}: {silence(limit)}")
        if self._response is None:
            raise UpstreamError(f"{self._where}: {CLOSED}")
        return self._response

    def _is_overdue(self, limit: float) -> bool:
        connection = self._connection
        is_next = connection.in_flight.first is self._question and connection.broker.reading
        return is_next and time.monotonic() - connection.progress >= limit

    def broker_ended(self) -> bool:
        """As `Renewing`."""
        if not self._asked or self._connection.in_flight.first not in (None, self._question):
            return False
        self._gone = True
        self._answered.set()
        return True

    def _succeed(self, seconds: float) -> None:
        connection = self._connection
        connection.context.renew_at = time.monotonic() + max(seconds, _SOONEST)
        if self._moves == self._moved:  # an idle client stays one
            connection.progress = self._progress
        self._count("accepted")

    @property
    def _moves(self) -> tuple[int, int]:
        """What has come from the client and gone to it."""
        return self._connection.received, self._connection.client.sent

    def _fail(self, error: KproxyError) -> None:
        """Have the client connect again, unless the connection ends in any case."""
        connection, detail = self._connection, str(error)
        if connection.ending:
            return
        refused = isinstance(error, IdentityError)
        self._count("refused" if refused else "failed")
        reason = Reason.UPSTREAM_AUTHENTICATION_FAILED if refused else Reason.UPSTREAM_SESSION_EXPIRED
        connection.requests.last_detail = detail
        if not self._asked:
            self._release()
            connection.drain(reason)
        elif connection.client.blocked:
            connection.in_flight.clear()
            connection.end_for(reason, detail)
        else:  # all earlier responses are out, and the broker takes no other request
            connection.close(reason, detail)

    def _count(self, outcome: str) -> None:
        self._connection.context.cluster.counters.reauthentications[outcome] += 1

    def _release(self) -> None:
        """Let the client's requests go on, unless the connection ends."""
        connection = self._connection
        if connection.renewal is self:
            connection.renewal, connection.requests.suspended = None, False
            connection.resolved()
