"""Which ports a configuration claims, and which claims collide."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from kproxy.config.address import is_ip_literal, is_wildcard


@dataclass(frozen=True, slots=True)
class Claim:
    """Ports `first` to `last` of `host`, for the setting `key`. `last` None: upwards, as many as nodes turn up."""

    key: str
    host: str
    first: int
    last: int | None

    def __contains__(self, port: int) -> bool:
        return self.first <= port <= (self.first if self.last is None else self.last)

    def __str__(self) -> str:
        ports = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last or ''}"
        return f"{self.key} ({ports})"


def overlapping(spans: Iterable[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The pairs of inclusive spans that share a number, lower one first."""
    return [(one, other) for one, other in combinations(sorted(spans), 2) if other[0] <= one[1]]


def conflicts(claims: Iterable[Claim]) -> list[str]:
    """One sentence for each two claims that cannot both be served. Port 0 (any free one) never collides.

    Of a claim that is open upwards only its first port is certain: how far it reaches depends on the nodes there are.
    """
    certain = [claim for claim in claims if claim.first]
    return [
        f"{one} and {other} want the same port"
        for one, other in combinations(certain, 2)
        if (one.first in other or other.first in one) and _same_interface(one.host, other.host)
    ]


def room(claim: Claim, claims: Iterable[Claim]) -> int | None:
    """How many ports an open claim has up to the next one above it on the same host; None when nothing is above it."""
    above = [c.first for c in claims if c.first > claim.first and _same_interface(c.host, claim.host)]
    return min(above) - claim.first if above else None


def _same_interface(one: str, other: str) -> bool:
    if one == other or ("localhost" in (one, other) and _is_local(one) and _is_local(other)):
        return True
    if is_wildcard(one) or is_wildcard(other):
        return not (is_ip_literal(one) and is_ip_literal(other)) or _family(one) == _family(other)
    return False


def _is_local(host: str) -> bool:
    return host == "localhost" or (is_ip_literal(host) and ipaddress.ip_address(host).is_loopback)


def _family(literal: str) -> int:
    return ipaddress.ip_address(literal).version
