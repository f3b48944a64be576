# This module is pure (no I/O, no clock).
"""A cluster's bootstrap servers: which of them answer, and so where a client that bootstraps is led first.

An `Upstream` has one. The dials of clients and those of kproxy's own connections are noted there. The watcher asks the
servers in turn, so one that is back is found without a client that waits for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from kproxy.upstream.attempts import Address


class BootstrapServers:
    """The servers, as configured, and those of them that did not answer when last dialled."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        """`addresses` are at least one."""
        self.addresses = list(dict.fromkeys(addresses))
        self._silent: dict[Address, str] = {}
        self._turn = 0

    @property
    def silent(self) -> Mapping[Address, str]:
        """Why each server that did not answer when last dialled did not."""
        return MappingProxyType(self._silent)

    def dialled(self, address: Address, error: str | None) -> None:
        """Note how a dial of an address has gone; that of another address says nothing about a server."""
        if error is None:
            self._silent.pop(address, None)
        elif address in self.addresses:
            self._silent[address] = error

    def in_turn(self, nodes: Collection[tuple[Address, bool | None]]) -> Sequence[Address]:
        """Return where to dial for a client that bootstraps: all servers and nodes, each once, the best ones first.

        The servers take turns to be first. `nodes` are those of the cluster, with whether each can be reached as far as
        that is known. Behind the servers that answer come the nodes that do, and last what has not answered: that is
        worth a dial where all else has failed.
        """
        self._turn += 1
        answering = _rotated([each for each in self.addresses if each not in self._silent], self._turn)
        silent = _rotated([each for each in self.addresses if each in self._silent], self._turn)
        well = [address for address, is_reachable in nodes if is_reachable is not False and address not in silent]
        unwell = [address for address, is_reachable in nodes if is_reachable is False]
        return list(dict.fromkeys((*answering, *_rotated(well, self._turn), *silent, *unwell)))


def _rotated(addresses: Sequence[Address], by: int) -> Sequence[Address]:
    at = by % len(addresses) if addresses else 0
    return [*addresses[at:], *addresses[:at]]
