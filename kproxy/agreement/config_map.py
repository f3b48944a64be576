"""The newest order of a virtual cluster in a ConfigMap of Kubernetes, under the virtual cluster's name.

`kproxy.cluster.agreement` has one where `failover.config_map` is set.

No lease is needed, so nothing expires and no clock decides. Orders have a rank, and only a higher one replaces what is
there, by compare-and-swap: a write names the version (resourceVersion) that it has read, and the API server refuses it
(409) when another replica has written meanwhile.

The ConfigMap is created by server-side apply. The name is in that request's path, so that a Role can allow `create` of
this one ConfigMap only, which it cannot for an ordinary create. No Helm release has it, so that no upgrade resets it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.agreement.kubernetes_object import (
    APPLY,
    MERGE,
    Lines,
    Stored,
    empty_map,
    order_patch,
    parse_event,
    parse_stored,
    refusal,
)
from kproxy.agreement.order import LaterVersionError, Order, decode_order, encode_order
from kproxy.errors import UpstreamError
from kproxy.upstream.kubernetes import NoAnswerError

if TYPE_CHECKING:
    from kproxy.upstream.http import Answer
    from kproxy.upstream.kubernetes import ApiServer

WATCH: Final = 10.0
"""Seconds of one watch, up to half as many more. A connection that was lost silently is noticed after that."""
_PAUSE: Final = 0.5
"""Seconds between a watch and the next one, which may end at once."""
_TRIES: Final = 8
"""Of a write, while other replicas write at the same moment."""
_MOST_WAIT: Final = 0.2
"""Seconds until such a write is tried again."""
_OK, _CREATED = 200, 201
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT, _GONE = 401, 403, 404, 409, 410

log = structlog.get_logger("kproxy.agreement")


class _ReadAgainError(Exception):
    """The watch cannot go on from the version that it had."""


class ConfigMap:
    """The order of one virtual cluster in the ConfigMap, where those of others may be, too: implements `Place`."""

    def __init__(self, name: str, cluster: str, server: ApiServer) -> None:
        self.name = name
        self._cluster = cluster
        self._server = server
        self._path = f"/api/v1/namespaces/{{namespace}}/configmaps/{name}"
        self._strange = False  # a value was no order, which is logged once

    async def follow(self, take: Callable[[Order], None], read: Callable[[], None]) -> None:
        """Hand the order to `take`, and each one that replaces it, until cancelled; call `read` once it is known.

        The ConfigMap is created when it is not there. Raises UpstreamError, also when it was deleted or an order was
        taken out: whoever follows it anew sees that, and writes the order again.
        """
        follower = _Follower(self._where, take)
        follower.see(self._order(stored := await self._read()))
        read()
        while True:
            await self._watch(stored.version, follower)
            await trio.sleep(_PAUSE)
            follower.see(self._order(stored := await self._read()))

    async def write(self, order: Order) -> None:
        """Put an order in the place of a lower one; a higher one stays.

        Raises UpstreamError, also where it is not known whether the order is there now.
        """
        for _ in range(_TRIES):
            stored = await self._read()
            found = self._order(stored)
            if found is not None and found.rank >= order.rank:
                return
            body = order_patch(stored.version, self._cluster, encode_order(order).decode())
            answer = await self._server.patch(f"{self._path}?fieldManager=kproxy", body, MERGE)
            if answer.status not in (_CONFLICT, _NOT_FOUND):
                self._check(answer)
                return
            await trio.sleep(_MOST_WAIT * random.random())
        raise UpstreamError(f"{self._where}: others wrote at the same moment, {_TRIES} times; try again")

    @property
    def _where(self) -> str:
        return f"ConfigMap {self.name}"

    async def _read(self) -> Stored:
        """Return what is there; create it first where it is not."""
        answer = await self._server.get(self._path)
        if answer.status == _NOT_FOUND:
            answer = await self._server.patch(
                f"{self._path}?fieldManager=kproxy&force=true", empty_map(self.name), APPLY
            )
            if answer.status == _CREATED:
                log.info("config map created", name=self.name, cluster=self._cluster)
        self._check(answer)
        with self._reading():
            return parse_stored(answer.body, self._cluster)

    async def _watch(self, version: str, follower: _Follower) -> None:
        """Follow the changes after a version, for `WATCH` seconds or until the connection breaks."""
        seconds = round(WATCH * (1 + random.random() / 2))
        query = f"watch=1&fieldSelector=metadata.name%3D{self.name}&resourceVersion={version}&timeoutSeconds={seconds}"
        path, lines = f"{self._path.rpartition('/')[0]}?{query}", Lines()
        try:
            answer = await self._server.stream(path, lambda data: self._heard(lines, data, follower), seconds)
        except (_ReadAgainError, NoAnswerError):
            return  # the next read says what is wrong, if anything still is
        if answer.status != _GONE:
            self._check(answer)

    def _heard(self, lines: Lines, data: bytes, follower: _Follower) -> None:
        with self._reading():
            events = [parse_event(line, self._cluster) for line in lines.add(data)]
        for event in events:
            if event.ended:
                raise _ReadAgainError
            if event.stored is None:
                raise UpstreamError(f"{self._where} was deleted; it is created again")
            follower.see(self._order(event.stored))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise UpstreamError(f"{self._where}: the API server's answer cannot be read: {error}") from error

    def _check(self, answer: Answer) -> None:
        """Raise UpstreamError for an answer that refuses."""
        if answer.status in (_OK, _CREATED):
            return
        why = refusal(answer.status, answer.body)
        raise UpstreamError(f"{self._where}: {why}{self._hint(answer.status)}")

    def _hint(self, status: int) -> str:
        if status == _UNAUTHORIZED:
            return f": the API server does not accept the token in {self._server.directory}"
        if status == _FORBIDDEN:
            return (
                "; give its service account a Role with the verbs get, watch, patch and create for configmaps with "
                f"resourceNames [{self.name}], as the chart does"
            )
        return ""

    def _order(self, stored: Stored) -> Order | None:
        """Return the order that is there; None, with a line in the log once, for what is no order of this cluster.

        Raises UpstreamError for one that only a later kproxy reads: what is active is not known then.
        """
        try:
            return None if stored.value is None else self._decoded(stored.value)
        except LaterVersionError as error:
            raise UpstreamError(f"{self._where} has {error}") from error
        except ValueError as error:
            if not self._strange:
                log.warning("a value is left out", config_map=self.name, key=self._cluster, reason=str(error))
            self._strange = True
            return None

    def _decoded(self, value: str) -> Order:
        order = decode_order(value.encode(errors="surrogatepass"))
        if order.cluster != self._cluster:
            raise ValueError(f"an order of virtual cluster {order.cluster}")
        return order


class _Follower:
    """Hands orders on, and notices that one is gone."""

    def __init__(self, where: str, take: Callable[[Order], None]) -> None:
        self._where = where
        self._take = take
        self._newest: Order | None = None

    def see(self, order: Order | None) -> None:
        """Take what is there now; raise UpstreamError where a higher order was."""
        newest = self._newest
        if newest is not None and (order is None or order.rank < newest.rank):
            raise UpstreamError(f"{self._where}: order {newest.number} was taken out of it; it is written again")
        if order is not None and order != newest:
            self._newest = order
            self._take(order)
