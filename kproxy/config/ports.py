"""Which ports a configuration claims, and which claims collide."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from kproxy.config.address import is_ip_literal, is_wildcard
from kproxy.config.base import Path, dotted


@dataclass(frozen=True, slots=True)
class Claim:
    """Ports `first` to `last` of `host`, for the setting at `path`. `last` None: upwards, as many as nodes turn up."""

    path: Path
    host: str
    first: int
    last: int | None

    def collides(self, other: Claim) -> bool:
        """Whether both cannot be served. Port 0 (any free one) never collides.

        Of a claim that is open upwards only its first port is certain: how far it reaches depends on the nodes.
        """
        both = self.first and other.first and same_interface(self.host, other.host)
        return bool(both) and max(self.first, other.first) <= min(self._certain_last, other._certain_last)

    @property
    def _certain_last(self) -> int:
        return self.first if self.last is None else self.last

    @property
    def ports(self) -> str:
        """For people: `9092`, `9093-9095`, `9093 and up`, `any free port`."""
        if not self.first:
            return "any free port"
        if self.last is None:
            return f"{self.first} and up"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def overlapping(spans: Iterable[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The pairs of inclusive spans that share a number, lower one first."""
    return [(one, other) for one, other in combinations(sorted(spans), 2) if other[0] <= one[1]]


def conflicts(claims: Iterable[Claim]) -> list[tuple[Path, str]]:
    """The path and the reason for each claim that an earlier one makes impossible."""
    return [
        (other.path, f"port {max(one.first, other.first)} is also that of {dotted(one.path)}")
        for one, other in combinations(claims, 2)
        if one.collides(other)
    ]


def room(claim: Claim, claims: Sequence[Claim]) -> int | None:
    """How many ports an open claim has below the next one above it on the same address; None: nothing is above it."""
    above = [c.first for c in claims if c.first > claim.first and same_interface(c.host, claim.host)]
    return min(above) - claim.first if above else None


def same_interface(one: str, other: str) -> bool:
    """Whether sockets bound to both hosts meet. Two different names may; that shows only when kproxy binds them."""
    if one == other or (_is_loopback(one) and _is_loopback(other) and "localhost" in (one, other)):
        return True
    if is_wildcard(one) or is_wildcard(other):
        return _version(one) == _version(other) or not (is_ip_literal(one) and is_ip_literal(other))
    return False


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (is_ip_literal(host) and ipaddress.ip_address(host).is_loopback)


def _version(host: str) -> int:
    return ipaddress.ip_address(host).version if is_ip_literal(host) else 0
