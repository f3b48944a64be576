"""Looks up the addresses of brokers and servers by their names, and remembers where each name led last.

`kproxy.upstream.dial` asks at each dial. All dials that need a name share its lookup, and take what it found for a
moment, so a hundred clients that come back at once ask once.

A lookup that no name server answers blocks a thread for many seconds. So each name has a few threads of its own, and
Trio's stay free for others. A dial then goes to where the name led last: most likely the broker is still there (RFC
8767 has servers of DNS do the same). That a name has no address any more is an answer, and holds at once.
"""

from __future__ import annotations

import errno
import math
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import structlog
import trio

if TYPE_CHECKING:
    from outcome import Outcome

Address = tuple[int, int, int, str, tuple[Any, ...]]
FRESH: Final = 5.0
"""Seconds for which an answer is taken again: as long as Kubernetes' own DNS lets its clients do."""
PATIENCE: Final = 1.0
"""Seconds that a dial waits for the name server where an earlier address is known."""
SILENT: Final = 8.0
"""Seconds after which a name server counts as silent: where the first of two is dead, the second answers after 5."""
STALE: Final = 3600.0
"""Seconds for which an old address is used: later another machine may have it."""
AGAIN: Final = 2.0
"""Seconds after which the same is asked beside a lookup under way: the resolver waits 5 for a packet that was lost."""
LATELY: Final = 120.0
"""Seconds after its last use for which it matters that a name has no answer."""
THREADS: Final = 4
"""The most lookups of one name at a time."""
MOST: Final = 128
"""The most lookups at a time, of all names: an operating system may have no more threads to give."""
REMEMBERED: Final = 1024
"""The most names remembered: brokers may advertise as many as they like."""
_NO_SUCH_NAME: Final = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
_RESOLVER_DESCRIPTORS: Final = 4
"""A file and a socket for each of two name servers."""

log = structlog.get_logger("kproxy.upstream")


async def addresses(host: str, port: int) -> Sequence[Address]:
    """Return the addresses of a host, at least one; raises OSError, at once where too many names have no answer."""
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        pass
    except UnicodeError as error:  # a label that is empty or has more than 63 bytes: whatever a broker may advertise
        raise socket.gaierror(socket.EAI_NONAME, "no name of DNS") from error
    found = await _names().of(host).look_up()
    return [(family, kind, protocol, name, (to[0], port, *to[2:])) for family, kind, protocol, name, to in found]


def doubt(host: str) -> None:
    """Have the next dial ask the name server: the name may have moved.

    So it may where nothing answers at its address, and whoever polls a cluster is to see that it has.
    """
    if (name := _names().known.get(host)) is not None:
        name.doubt()


def unanswered() -> Iterator[tuple[str, float]]:
    """Yield each name that was dialled lately without an answer of a name server, and the age of the last one in s."""
    now = trio.current_time()
    for host, name in _names().known.items():
        if name.silent and name.is_remembered and now - name.used_at < LATELY:
            yield host, now - name.found_at


def descriptors_lacking() -> OSError | None:
    """Return the error with which the system refuses as many descriptors as the resolver needs; None if it does not.

    Without them no name has an address: the resolver opens files and sockets, and does not say that it could not.
    """
    held: list[int] = []
    try:
        while len(held) < _RESOLVER_DESCRIPTORS:
            held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return error
    finally:
        for descriptor in held:
            os.close(descriptor)
    return None


class _Names:
    """The names of a Trio run. Lookups under way at its end are nothing to the next one."""

    def __init__(self) -> None:
        self.known: dict[str, _Name] = {}
        self.under_way = 0

    def of(self, host: str) -> _Name:
        """Return the name; make room for a new one by forgetting the one that was not used for longest."""
        if host not in self.known:
            if len(self.known) >= REMEMBERED:
                idle = (each for each in self.known.values() if not each.under_way)
                del self.known[min(idle, key=lambda each: each.used_at).host]
            self.known[host] = _Name(host, self)
        return self.known[host]


_RUN: Final[trio.lowlevel.RunVar[_Names]] = trio.lowlevel.RunVar("names")


def _names() -> _Names:
    try:
        return _RUN.get()
    except LookupError:
        _RUN.set(_Names())
        return _RUN.get()


class _NoSuchNameError(socket.gaierror):
    """A name server has said that the name has no address."""


class _Waited:
    """What tasks wait for: addresses, or the error of a lookup, with its number."""

    def __init__(self) -> None:
        self.over = trio.Event()
        self.found: Sequence[Address] = ()
        self.error: Exception | None = None
        self.number = 0


class _Name:
    """A name, its lookups under way, which are numbered, and what the newest answer was."""

    def __init__(self, host: str, names: _Names) -> None:
        self.host = host
        self.under_way = 0
        self.used_at = -math.inf
        """When it was last asked for."""
        self.found: Sequence[Address] = ()
        """Where it led last; nothing where it has no address."""
        self.found_at = -math.inf
        """When a name server has said so."""
        self.silent = False
        """Whether no name server answers, and so the address of before is used."""
        self._names = names
        self._asked = 0
        """The number of the last lookup that was begun."""
        self._answered = 0
        """The newest lookup that a name server has answered: what an older one brings says nothing new."""
        self._doubted = 0
        """The last lookup before a doubt: it, and those before, are not taken again."""
        self._asked_at = -math.inf
        self._waiting_since = math.inf
        """When the first of the lookups under way began whose answer would be news."""
        self._waited = _Waited()
        self._turn = 0

    @property
    def is_remembered(self) -> bool:
        """Whether there is an address to go to without an answer."""
        return bool(self.found) and trio.current_time() - self.found_at < STALE

    def doubt(self) -> None:
        """Have the next dial ask anew."""
        self._doubted = self._asked

    async def look_up(self) -> Sequence[Address]:
        """Return what the name server says, or said last; raises OSError."""
        self.used_at, before = trio.current_time(), self._asked
        if self._answered > self._doubted and self.used_at - self.found_at < FRESH:
            return self._in_turn(self.found)
        while True:
            self._ask()
            waited_for = trio.current_time() - self._waiting_since
            if waited_for >= SILENT:
                self._fall_silent()
            if self.is_remembered and (self.silent or waited_for >= PATIENCE or not self.under_way):
                return self._in_turn(self.found)
            waited = self._waited
            with trio.move_on_after(PATIENCE):
                await waited.over.wait()
                if waited.error is None:
                    return self._in_turn(waited.found)
                # One that was begun before may have failed because there was no way to the name server then.
                if isinstance(waited.error, _NoSuchNameError) or waited.number > before:
                    raise type(waited.error)(*waited.error.args) from waited.error  # a new one: several tasks raise it

    def _in_turn(self, found: Sequence[Address]) -> Sequence[Address]:
        """Spread the dials of these seconds; the order of two families is a preference, and stays."""
        self._turn += 1
        at = self._turn % len(found) if len({family for family, *_ in found}) == 1 else 0
        return [*found[at:], *found[:at]]

    def _fall_silent(self) -> None:
        if not self.silent and self.is_remembered:
            self.silent = True
            log.warning("no name server answers: going on where the name led last", name=self.host)

    def _ask(self) -> None:
        """Begin a lookup, unless one is under way that brings news soon."""
        if self.under_way >= THREADS:
            return
        brings_news = self.under_way and self._asked > max(self._answered, self._doubted)
        if not brings_news or self._is_worth_repeating:
            try:
                self._begin()
            except OSError:
                if not self.under_way and not self.is_remembered:
                    raise

    @property
    def _is_worth_repeating(self) -> bool:
        """Whether the last lookup may be lost, and others have threads enough for their first ones."""
        return trio.current_time() - self._asked_at >= AGAIN and self._names.under_way < MOST // 2

    def _begin(self) -> None:
        if self._names.under_way >= MOST:
            raise socket.gaierror(socket.EAI_AGAIN, "too many names without an answer")
        take = partial(_deliver, trio.lowlevel.current_trio_token(), partial(self._take, self._asked + 1))
        try:
            trio.lowlevel.start_thread_soon(partial(_resolved, self.host), take)
        except RuntimeError as error:
            raise OSError(errno.ENOMEM, "no thread to look up a name") from error
        self._asked += 1
        self._asked_at = trio.current_time()
        self._waiting_since = min(self._waiting_since, self._asked_at)
        self.under_way += 1
        self._names.under_way += 1

    def _take(self, number: int, said: Sequence[Address] | Exception) -> None:
        """Take the end of a lookup; called in the Trio thread."""
        self.under_way -= 1
        self._names.under_way -= 1
        if not self.under_way:
            self._waiting_since = math.inf
        if number < self._answered:
            return
        if not isinstance(said, Exception):
            self._hear(number, said)
        elif isinstance(said, _NoSuchNameError):
            self._hear(number, ())
        else:
            self._fall_silent()
        self._wake(number, said)

    def _hear(self, number: int, found: Sequence[Address]) -> None:
        """Believe a name server's answer."""
        self._answered = number
        self.found, self.found_at = found, trio.current_time() if found else -math.inf
        if self.silent:
            self.silent = False
            log.info("a name server answers again", name=self.host)

    def _wake(self, number: int, said: Sequence[Address] | Exception) -> None:
        waited, self._waited = self._waited, _Waited()
        self._waiting_since = math.inf
        waited.number = number
        if not isinstance(said, Exception):
            waited.found = said
        elif self.is_remembered:
            waited.found = self.found
        else:
            waited.error = said
        waited.over.set()


def _resolved(host: str) -> Sequence[Any] | Exception:
    """Look a name up, in a thread. Where the system lacks descriptors, "no such name" is no answer."""
    try:
        return socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        says_so = error.errno in _NO_SUCH_NAME and descriptors_lacking() is None
        return _NoSuchNameError(*error.args) if says_so else error
    except Exception as error:
        return error


def _deliver(token: trio.lowlevel.TrioToken, take: partial[None], said: Outcome[Any]) -> None:
    """Hand a lookup's end from its thread to the run that asked, if that has not ended."""
    with suppress(trio.RunFinishedError):
        token.run_sync_soon(take, said.unwrap())
