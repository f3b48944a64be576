# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""What limits take for one address.

The relay, client telemetry and the admin port count clients by it, whenever one connects or pushes.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address
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
