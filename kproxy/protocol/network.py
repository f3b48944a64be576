# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""What limits take for one address.

The relay, client telemetry and the admin port count clients by it, whenever one connects or pushes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

_REMEMBERED: Final = 16_384
_BITS: Final = 64


@lru_cache(_REMEMBERED)
def network(address: str) -> str:
    """Return an IPv4 address, also one mapped into IPv6, as it is; of an IPv6 one its /64, all of which is one host's.

    A text that is no address counts as it is.
    """
    if ":" not in address:
        return address
    try:
        host = IPv6Address(address)
    except ValueError:
        return address
    if host.ipv4_mapped is not None:
        return str(host.ipv4_mapped)
    return f"{IPv6Address(int(host) >> _BITS << _BITS)}/{_BITS}"


class Networks:
    """Some networks, such as those of load balancers."""

    def __init__(self, written: Iterable[str] = ()) -> None:
        """`written` are networks as 10.0.0.0/8 or 2001:db8::/32, or single addresses; raises ValueError for others."""
        self._networks = tuple(ip_network(one) for one in written)

    def __bool__(self) -> bool:
        return bool(self._networks)

    def have(self, address: str) -> bool:
        """Return whether an address is in one of them; an IPv4 one may be mapped into IPv6. No text is an error."""
        try:
            found = ip_address(address)
        except ValueError:
            return False
        if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
            return any(found.ipv4_mapped in one for one in self._networks)
        return any(found in one for one in self._networks)
