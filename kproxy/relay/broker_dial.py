"""Connects a client that is admitted to a broker: TCP, TLS, and kproxy's login where clients have logged in at kproxy.

The acceptor has one `BrokerDial` for all its clients.
"""

from __future__ import annotations

import socket
import ssl
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from kproxy.errors import KproxyError
from kproxy.observe.faults import note_shortage
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.relay.broker_login import BrokerLogin
from kproxy.relay.dial_slots import DialSlots
from kproxy.relay.socket_options import keep_alive
from kproxy.upstream.dial import open_tcp, reason, shortage_of
from kproxy.upstream.race import NobodyError, first_of
from kproxy.upstream.tls import shake_hands

if TYPE_CHECKING:
    from kproxy.config import Timeouts
    from kproxy.observe.troubles import Troubles
    from kproxy.relay.arrival import Arrival
    from kproxy.relay.destination import Destination


Address = tuple[str, int]
OVERLAP: Final = 1.0
"""Seconds after which another bootstrap server is dialled beside the one that has not answered.

Where that one wins, the next clients are not led to the silent one first. A distant broker with TLS takes half of it.
"""
GROWTH: Final = 1.5
"""How that time grows from one to the next: brokers that are slow since they have just started get no storm."""


class BrokerDial:
    """Dials for all clients."""

    def __init__(self, troubles: Troubles) -> None:
        self._troubles = troubles
        self._slots = DialSlots()

    async def connected(self, arrival: Arrival, timeouts: Timeouts) -> tuple[socket.socket, str]:
        """Return a socket that the client's requests may be sent to, and the broker's address; raises `Fault`."""
        destination, context = arrival.destination, arrival.context
        if destination.removed:  # while the client authenticated
            raise _removed()
        broker, address = await self._dial(destination, context.node_id, timeouts.connect)
        keep_alive(broker, timeouts.tcp_keepalive)
        _check_present(arrival, broker, address)
        if destination.authenticator is not None:  # only now: the identity is the present topology's
            await _identify(arrival, broker, address)
            _check_present(arrival, broker, address)
        return broker, address

    async def _dial(self, destination: Destination, node_id: int | None, seconds: float) -> tuple[socket.socket, str]:
        """Connect to the first address that answers; raises `Fault` with the reason of the last one to fail."""
        addresses = destination.upstreams(node_id)
        if not addresses:
            raise Fault(Reason.CONNECT_FAILED, f"node {node_id} has no known address")
        waiting: dict[Address, float] = {}

        async def attempt(address: Address) -> tuple[socket.socket, Address]:
            return await self._attempt(destination, node_id, address, seconds, waiting), address

        try:
            broker, (host, port) = await first_of(
                addresses, attempt, OVERLAP, growth=GROWTH, failure=Fault, discard=_discard
            )
        except NobodyError as nobody:
            raise nobody.errors[-1] from None
        for address, since in waiting.items():
            if trio.current_time() - since >= OVERLAP / 2:  # not one that was begun just now, in place of another
                destination.overtaken(address, f"no answer in {OVERLAP:g} s")
        destination.dialled(node_id, (host, port), None, "")
        return broker, f"{host}:{port}"

    async def _attempt(
        self,
        destination: Destination,
        node_id: int | None,
        address: Address,
        seconds: float,
        waiting: dict[Address, float],
    ) -> socket.socket:
        """Connect to an address; raises `Fault`. `waiting` has since when it is dialled, until that has an outcome."""
        host, port = address
        failure, error = Reason.CONNECT_TIMEOUT, f"no answer in {seconds:g} s"
        with trio.move_on_after(seconds):
            try:
                async with self._slots.slot(address):
                    waiting[address] = trio.current_time()
                    broker = await _connected(host, port, node_id, destination)
            except OSError as refused:
                failure, error = self._failure(refused, f"{host}:{port}"), reason(refused)
            else:
                del waiting[address]
                return broker
        waiting.pop(address, None)
        destination.dialled(node_id, address, failure, error)
        raise Fault(failure, f"{host}:{port}: {error}")

    def _failure(self, error: OSError, where: str) -> Reason:
        if shortage := shortage_of(error):
            note_shortage(self._troubles, shortage, f"connect to {where} for a client")
            return Reason.OUT_OF_DESCRIPTORS
        if isinstance(error, ssl.SSLError):
            return Reason.UPSTREAM_TLS_FAILED
        return Reason.RESOLVE_FAILED if isinstance(error, socket.gaierror) else Reason.CONNECT_FAILED


async def _identify(arrival: Arrival, broker: socket.socket, address: str) -> None:
    """Authenticate kproxy at the broker; raises `Fault`, and closes the broker's socket then."""
    login = BrokerLogin(broker, address)
    try:
        seconds = await arrival.destination.identify(login, address)
    except KproxyError as error:
        broker.close()
        if login.turned_away:
            arrival.context.cluster.counters.turned_away.note(address, time.monotonic())
        raise Fault(Reason.UPSTREAM_AUTHENTICATION_FAILED, str(error)) from error
    except BaseException:
        broker.close()
        raise
    arrival.context.renew_at = time.monotonic() + seconds


def _check_present(arrival: Arrival, broker: socket.socket, address: str) -> None:
    """Raise `Fault`, and close the broker's socket, where its virtual cluster was removed, or its topology is over."""
    if arrival.destination.removed:
        broker.close()
        raise _removed()
    if arrival.context.stale:
        broker.close()
        raise Fault(Reason.REBOOTSTRAP, f"the topology changed while {address} was dialled")


def _removed() -> Fault:
    return Fault(Reason.DRAINED, "")


async def _connected(host: str, port: int, node_id: int | None, destination: Destination) -> socket.socket:
    """Return a non-blocking socket that is connected to a broker; raises OSError."""
    plain = _plain(await open_tcp(host, port))
    try:
        _check_not_oneself(plain, host, node_id, destination)
    except OSError:
        plain.close()
        raise
    tls = destination.upstream_tls
    if tls is None:
        return plain
    secured = tls.wrap(plain, host)
    try:
        await shake_hands(secured, partial(trio.lowlevel.wait_readable, secured))
    except BaseException as error:
        if isinstance(error.__cause__, ssl.SSLEOFError | ConnectionError):
            destination.counters.turned_away.note(f"{host}:{port}", time.monotonic())
        secured.close()
        raise
    return secured


def _check_not_oneself(broker: socket.socket, name: str, node_id: int | None, destination: Destination) -> None:
    """Raise OSError where the socket leads to kproxy itself, whose other end would dial the next one, and so on.

    A broker's advertised.listeners or `bootstrap_servers` name kproxy then. On the way to the same machine both ends
    have the same address.
    """
    own, there = broker.getsockname(), broker.getpeername()
    if own[0] == there[0] and destination.leads_back(node_id, there[0], there[1], name):
        raise OSError(
            "this is kproxy's own port; bootstrap_servers, and the brokers' advertised.listeners, must name the brokers"
        )


def _discard(won: tuple[socket.socket, Address]) -> None:
    won[0].close()


def _plain(stream: trio.abc.Stream) -> socket.socket:
    """Take the stream's socket out of Trio's hands; make it non-blocking."""
    assert isinstance(stream, trio.SocketStream)
    sock = socket.socket(fileno=stream.socket.detach())
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock
