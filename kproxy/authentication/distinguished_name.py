# This module is pure (no I/O, no clock).
"""A certificate's subject as text (RFC 2253), as Kafka's brokers write it: the most specific part first.

`CertificateRules` makes principals of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from kproxy.upstream.certificates import SHORT

Subject = Iterable[Iterable[tuple[str, str]]]
"""As `ssl.SSLSocket.getpeercert` gives it: a sequence of parts, of which each has one or more names with a value."""

_SPECIAL: Final = re.compile(r'[,+"\\<>;=]|^[# ]| $')


def distinguished_name(subject: Subject) -> str:
    """Return the subject on one line; what separates parts is escaped in their values, so none can pose as two."""
    parts = ["+".join(f"{SHORT.get(name, name)}={_escaped(value)}" for name, value in part) for part in subject]
    return ",".join(reversed(parts))


def _escaped(value: str) -> str:
    text = _SPECIAL.sub(lambda found: f"\\{found[0]}", value)
    return "".join(each if each.isprintable() else "".join(f"\\{byte:02X}" for byte in each.encode()) for each in text)
