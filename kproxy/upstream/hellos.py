# This module is pure (no I/O, no clock).
"""What the brokers of a cluster last answered to ApiVersions, each for itself: in a rolling upgrade they differ.

An `Upstream` has one, which its clients keep. Clients that authenticate to kproxy are told by it what they may send.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import replace

from kproxy.upstream.attempts import Address
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse


class Hellos:
    """The answers by address."""

    def __init__(self) -> None:
        self._by_address: dict[Address, ApiVersionsResponse] = {}
        self._common: ApiVersionsResponse | None = None
        """What all of them serve; None while it is to be found out."""

    def note(self, address: Address, hello: ApiVersionsResponse) -> None:
        """Take a broker's answer."""
        if self._by_address.get(address) != hello:
            self._by_address[address], self._common = hello, None

    def keep(self, addresses: Container[Address]) -> None:
        """Forget the brokers at other addresses."""
        if gone := [address for address in self._by_address if address not in addresses]:
            for address in gone:
                del self._by_address[address]
            self._common = None

    def of(self, address: Address | None) -> ApiVersionsResponse | None:
        """Return this broker's answer; for one that has given none, and for any broker (None), what all of them serve.

        None while no broker has answered.
        """
        known = None if address is None else self._by_address.get(address)
        if known is None and self._by_address:
            self._common = self._common or common(self._by_address.values())
            return self._common
        return known


def common(hellos: Collection[ApiVersionsResponse]) -> ApiVersionsResponse:
    """Return the versions that all of them serve, of the APIs that all of them have; all else is the last one's."""
    *others, last = hellos
    ranges = [{one.api_key: one for one in hello.api_keys} for hello in others]
    narrowed = (_narrowed(one, ranges) for one in last.api_keys)
    return replace(last, api_keys=[one for one in narrowed if one is not None])


def _narrowed(api: ApiVersion, ranges: Collection[Mapping[int, ApiVersion]]) -> ApiVersion | None:
    """Return the versions of an API that all serve; None where there is none."""
    each = [api, *(found for known in ranges if (found := known.get(api.api_key)) is not None)]
    lowest, highest = max(one.min_version for one in each), min(one.max_version for one in each)
    if len(each) <= len(ranges) or lowest > highest:
        return None
    return replace(api, min_version=lowest, max_version=highest)
