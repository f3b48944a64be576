"""Keeps a virtual cluster at the upstream that all replicas of kproxy agree on, through the orders that they read.

`Cluster` has one where `failover.control_topic` or `failover.config_map` is set. `learn` runs at start, before anything
is served. The failover controller gives an order before it switches, and follows those of other replicas.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.agreement.agreed import Agreed
from kproxy.agreement.order import Order, decode_order, encode_order
from kproxy.errors import ConflictError, UpstreamError
from kproxy.observe.faults import supervised
from kproxy.observe.troubles import Troubles, Where
from kproxy.state.restore import restored_value

if TYPE_CHECKING:
    from kproxy.agreement.failover_record import FailoverRecord
    from kproxy.agreement.place import Place
    from kproxy.state.kept import Kept
    from kproxy.state.store import Store

ORDERS: Final = "orders"
"""The state store's table of the newest order that was followed, by virtual cluster."""
LEARN_SECONDS: Final = 5.0
"""The most time for reading the orders, at start and before one is given; what cannot be read by then is read later."""
_ECHO_SECONDS: Final = 2.0
"""For an order of one's own to be read back: then those that other replicas gave at the same moment are known, too."""
_KEEP_SECONDS: Final = 5.0
"""For the disk: clients are switched already, and the next switch must not wait for it."""
_AGAIN: Final = 1.0
"""Seconds until a place that could not be read or written is tried again; with as much jitter."""

log = structlog.get_logger("kproxy.cluster")


class Agreement:
    """The orders of one virtual cluster, in the places that keep them."""

    def __init__(self, cluster: str, places: Mapping[str, Place], troubles: Troubles) -> None:
        """`places` are by name. One that bears an upstream's name decides on orders to switch there."""
        self.agreed = Agreed()
        self.followed: Order | None = None
        """The order that is in force here; None while the virtual cluster is where it was without any."""
        self.replica = secrets.token_hex(6)
        """Names this process in its orders."""
        self._cluster = cluster
        self._troubles = troubles
        self._news = trio.Event()
        self._places: dict[str, Place] = {}
        self._scopes: dict[str, trio.CancelScope] = {}
        self._full: dict[str, str] = {}
        """By place, why the newest order cannot be copied there."""
        self._kept: Kept | None = None
        self._work: trio.Nursery | None = None
        self.keep_in(places)

    def keep_in(self, places: Mapping[str, Place]) -> None:
        """Have the orders kept in these places from now on."""
        self.agreed.keep_in(places)
        for scope in self._scopes.values():
            scope.cancel()
        self._scopes.clear()
        self._full.clear()
        self._places = dict(places)
        if self._work is not None:
            for name in places:
                self._begin(name, self._work)
        self._tell()

    async def learn(self, store: Store, kept: Kept, work: trio.Nursery) -> Order | None:
        """Read the orders, in `LEARN_SECONDS` at most; return the newest. `work` then follows what comes.

        `kept` takes the order that is followed.

        Raises `StateError`.
        """
        self._kept, self._work = kept, work
        value = await store.get(ORDERS, self._cluster)
        known = await restored_value(store, ORDERS, self._cluster, value, lambda _, value: decode_order(value))
        if known is not None:
            self.agreed.take(None, known)
        for name in self._places:
            self._begin(name, work)
        with trio.move_on_after(LEARN_SECONDS):
            await self._until(lambda: self.agreed.tried)
        if not self.agreed.learned:
            log.warning("no order could be read: another upstream may be the active one", cluster=self._cluster)
        return self.agreed.newest

    @property
    def pending(self) -> Order | None:
        """The newest order, as long as it is not in force here."""
        newest = self.agreed.newest
        in_force = newest is None or (self.followed is not None and newest.rank == self.followed.rank)
        return None if in_force else newest

    def doubt(self, upstream: str) -> str | None:
        """Return why an order to switch there could not be written now, as far as it is known."""
        place = self._place_of(upstream)
        copy = self.agreed.copies[place]
        return None if copy.read else f"orders cannot be read at {place}: {copy.error or 'not read yet'}"

    def problems(self) -> Iterator[str]:
        """Yield why this replica may be at another upstream than the others."""
        if (order := self.pending) is not None:
            who = f"order {order.number} of replica {order.replica}"
            yield f"{who}, to be at {order.upstream}, is not in force here yet"
        if not self.agreed.learned:
            yield f"no order can be read, so the others may be elsewhere: {'; '.join(self._errors())}"

    def warnings(self) -> Iterator[str]:
        """Yield the places that cannot be read, while another one can, and those that take no order."""
        if self.agreed.learned:
            yield from (f"orders cannot be read at {error}" for error in self._errors())
        for name in self.agreed.lacking:
            if why := self._full.get(name):
                yield f"orders cannot be written at {name}: {why}"

    def _errors(self) -> Iterator[str]:
        for name, copy in self.agreed.copies.items():
            if not copy.read:
                yield f"{name}: {copy.error or 'not read yet'}"

    async def order_pending(self) -> Order:
        """Wait for an order that is not in force here."""
        await self._until(lambda: self.pending is not None)
        assert self.pending is not None
        return self.pending

    async def all_read(self) -> None:
        """Wait until the orders of all places are known."""
        await self._until(lambda: self.agreed.complete)

    async def follow(self, order: Order) -> None:
        """Note that an order is in force here; a restart begins with it."""
        self.followed = order
        if self._kept is not None:
            tried = self._kept.put(ORDERS, self._cluster, encode_order(order))
            with trio.move_on_after(_KEEP_SECONDS):
                await tried.wait()

    async def give(self, upstream: str, stay: FailoverRecord, cause: str, *, force: bool) -> Order:
        """Write an order where its upstream is, and return it once it counts. Forced, it counts even where it is not.

        Raises ConflictError: it could not be written, or an order of another replica counts more, or might.
        """
        if not force:
            await self._learn_before(upstream)
        number = self.agreed.next_number()
        order = Order(self._cluster, number, upstream, stay, self.replica, cause, time.time())
        place = self._place_of(upstream)
        try:
            await self._places[place].write(order)
        except UpstreamError as error:
            if not force:
                raise ConflictError(
                    f"the order to switch to {upstream} could not be written, so nothing was switched: {error}; "
                    "force it to switch this replica, and the others when they can read the order. Should it arrive "
                    "there late all the same, all replicas will follow it"
                ) from error
        with trio.move_on_after(_ECHO_SECONDS):
            await self._until(lambda: self._has(place, order) or (force and not self._is_read(place)))
        if not force and not self._has(place, order):
            raise ConflictError(
                f"the order to switch to {upstream} was written, and could not be read back in {_ECHO_SECONDS:g} s: an "
                "order that counts more may be there. All replicas will follow the one that does"
            )
        self._take(None, order)
        newest = self.agreed.newest
        if newest is not None and newest.rank > order.rank:
            raise ConflictError(
                f"another replica ({newest.replica}) gave an order at the same moment: {newest.upstream} is to be "
                f"active, and not {order.upstream}"
            )
        return order

    async def _learn_before(self, upstream: str) -> None:
        """Have the orders read that there are where an order to switch there is to be written, to be above them.

        Raises ConflictError: they cannot be read, or are news.
        """
        known = self.agreed.newest
        with trio.move_on_after(LEARN_SECONDS):
            await self._until(lambda: self.doubt(upstream) is None)
        if (doubt := self.doubt(upstream)) is not None:
            raise ConflictError(
                f"an order to switch to {upstream} might not count, so none was given: {doubt}; force it to switch "
                "this replica, and the others unless another order counts more"
            )
        if (newest := self.agreed.newest) is not None and newest is not known:
            raise ConflictError(
                f"an order of replica {newest.replica} became known just now: {newest.upstream} is to be active"
            )

    async def declare(self, upstream: str, stay: FailoverRecord, cause: str) -> None:
        """Have the other replicas come to where this one is already; an order that counts more is followed instead.

        So is one that is not in force here yet: a reload, after which it can be followed, must not overrule it.
        """
        if self.pending is not None:
            return
        try:
            await self.follow(await self.give(upstream, stay, cause, force=True))
        except ConflictError as error:
            log.warning("overruled", cluster=self._cluster, reason=str(error))

    def _place_of(self, upstream: str) -> str:
        """Return where an order to switch there must be written."""
        return upstream if upstream in self._places else next(iter(self._places))

    def _is_read(self, place: str) -> bool:
        copy = self.agreed.copies.get(place)
        return copy is not None and copy.read

    def _has(self, place: str, order: Order) -> bool:
        """Return whether what was read there reaches at least up to this order."""
        newest = self.agreed.copies[place].newest if self._is_read(place) else None
        return newest is not None and newest.rank >= order.rank

    def _take(self, place: str | None, order: Order) -> None:
        if self.agreed.take(place, order):
            log.info(
                "order",
                cluster=self._cluster,
                number=order.number,
                upstream=order.upstream,
                replica=order.replica,
                read_at=place,
            )
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = trio.Event()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._news.wait()

    def _begin(self, name: str, work: trio.Nursery) -> None:
        scope = self._scopes[name] = trio.CancelScope()
        work.start_soon(self._run, name, self._places[name], scope)

    async def _run(self, name: str, place: Place, scope: trio.CancelScope) -> None:
        with scope:
            async with trio.open_nursery() as nursery:
                for task in (self._read, self._copy):
                    nursery.start_soon(supervised, self._troubles, Where.AGREEMENT, partial(task, name, place))

    async def _read(self, name: str, place: Place) -> None:
        """Follow one place for ever."""
        while True:
            self.agreed.begin(name)
            try:
                await place.follow(partial(self._take, name), partial(self._caught_up, name))
            except UpstreamError as error:
                self._lose(name, str(error))
            await trio.sleep(_AGAIN * (1 + random.random()))

    def _caught_up(self, name: str) -> None:
        if self.agreed.copies[name].error is not None:
            log.info("orders are read again", cluster=self._cluster, place=name)
        self.agreed.read(name)
        self._tell()

    def _lose(self, name: str, why: str) -> None:
        if self.agreed.copies[name].error is None:
            log.warning("orders cannot be read", cluster=self._cluster, place=name, reason=why)
        self.agreed.lost(name, why)
        self._tell()

    async def _copy(self, name: str, place: Place) -> None:
        """Write the newest order in one place whenever it lacks it; most often another replica is faster."""
        while True:
            await self._until(lambda: name in self.agreed.lacking)
            await trio.sleep(_AGAIN * random.random())
            order = self.agreed.newest
            if order is None or name not in self.agreed.lacking:
                self._full.pop(name, None)
                continue
            try:
                await place.write(order)
            except UpstreamError as error:
                self._note_full(name, str(error))
                await trio.sleep(_AGAIN)
            else:
                self._full.pop(name, None)
                self._take(name, order)

    def _note_full(self, name: str, why: str) -> None:
        if name not in self._full:
            log.warning("an order cannot be copied", cluster=self._cluster, place=name, reason=why)
        self._full[name] = why
