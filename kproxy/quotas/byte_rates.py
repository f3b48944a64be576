# This module is pure (no I/O, no clock).
"""How many bytes a second each principal of a virtual cluster may produce and fetch, and for how long it is throttled.

`kproxy.quotas.policies` asks it for Produce requests and Fetch responses of a virtual cluster with `byte_rates`.

Bytes that a principal moves use up its rate of the seconds to come. It is throttled as long as more than one second is
used up. All that is kept is the moment at which none is, so there is no timer. Times are seconds on one clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from kproxy.config.patterns import FirstMatch, compiled
from kproxy.wire.generated.api_keys import ApiKey

if TYPE_CHECKING:
    from kproxy.config.byte_rates import PrincipalByteRate

ANONYMOUS: Final = "User:ANONYMOUS"
"""Kafka's name for who has not authenticated."""
BURST_SECONDS: Final = 1.0
"""So many seconds' bytes may come at once."""
LONGEST_SECONDS: Final = 10.0
"""A client is throttled for so long at a time at most: its other requests wait meanwhile, and have timeouts."""
_FEW: Final = 64


class Rates(NamedTuple):
    """Bytes a second; None for no limit."""

    produce: int | None
    fetch: int | None


_UNLIMITED: Final = Rates(None, None)


class ByteRates:
    """The rates of one virtual cluster: the first rule counts whose pattern matches the whole principal."""

    def __init__(self, rules: Sequence[PrincipalByteRate]) -> None:
        self._unused_at: dict[tuple[str, int], float] = {}
        self._sweep_at = _FEW
        self.adopt(rules)

    def adopt(self, rules: Sequence[PrincipalByteRate]) -> None:
        """Use other rules from now on."""
        self._limits = bool(rules)
        self._rates = FirstMatch([(compiled(rule.principal), Rates(rule.produce, rule.fetch)) for rule in rules])

    def __bool__(self) -> bool:
        """Return whether there are rules."""
        return self._limits

    def __len__(self) -> int:
        """Return for how many principals' directions the bytes are known that count against their rates."""
        return len(self._unused_at)

    def produced(self, principal: str | None, count: int, now: float) -> float:
        """Note bytes of a Produce request; return the seconds for which the principal is throttled."""
        who = principal or ANONYMOUS
        return self._moved(who, ApiKey.PRODUCE, self._rates_of(who).produce, count, now)

    def fetched(self, principal: str | None, count: int, now: float) -> float:
        """The same for a Fetch response."""
        who = principal or ANONYMOUS
        return self._moved(who, ApiKey.FETCH, self._rates_of(who).fetch, count, now)

    def limits_fetch(self, principal: str | None) -> bool:
        """Return whether the principal has a rate at which it may fetch."""
        return self._rates_of(principal or ANONYMOUS).fetch is not None

    def fetch_waits(self, principal: str | None, now: float) -> float:
        """Return the seconds for which a Fetch request that begins now waits, for what the principal fetched before."""
        unused_at = self._unused_at.get((principal or ANONYMOUS, ApiKey.FETCH), now)
        return _throttled(unused_at, now) if self.limits_fetch(principal) else 0.0

    def _rates_of(self, principal: str) -> Rates:
        return self._rates.find(principal) or _UNLIMITED

    def _moved(self, principal: str, api_key: int, rate: int | None, count: int, now: float) -> float:
        if rate is None:
            return 0.0
        key = principal, api_key
        # Of what earlier requests left, no more counts than one wait takes off: a burst over many connections would
        # else throttle for hours whoever comes behind it.
        before = min(self._unused_at.get(key, now), now + BURST_SECONDS + LONGEST_SECONDS)
        unused_at = self._unused_at[key] = max(now, before) + count / rate
        if len(self._unused_at) > self._sweep_at:
            self._forget_unused(now)
        return _throttled(unused_at, now)

    def _forget_unused(self, now: float) -> None:
        """Drop those who have not used any of their rate; the next time when there are twice as many as are left."""
        self._unused_at = {key: unused_at for key, unused_at in self._unused_at.items() if unused_at > now}
        self._sweep_at = max(_FEW, 2 * len(self._unused_at))


def _throttled(unused_at: float, now: float) -> float:
    return min(max(0.0, unused_at - now - BURST_SECONDS), LONGEST_SECONDS)
