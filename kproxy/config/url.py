# This module is pure (no I/O, no clock).
"""URLs that kproxy sends requests to: collectors, token endpoints, key sets.

Settings are checked with `parse_url`, and `kproxy.upstream.http` connects where its result says.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from kproxy.config.address import is_loopback, join_host_port
from kproxy.config.base import checked_text
from kproxy.observe.masking import mask_url

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")


class Url(NamedTuple):
    """Where requests go."""

    secure: bool
    host: str
    port: int
    target: str
    """Path and query."""

    @property
    def where(self) -> str:
        """Return the URL without its query, which may be secret."""
        return f"{'https' if self.secure else 'http'}://{self.authority}{self.target.partition('?')[0]}"

    @property
    def authority(self) -> str:
        """Return host and port, as in the header Host."""
        return join_host_port(self.host, self.port)

    @property
    def is_readable(self) -> bool:
        """True when what is sent there leaves the machine, and whoever is on the way can read and change it."""
        return not self.secure and not is_loopback(self.host)


def checked_endpoint(value: Any) -> str:
    """Return the text of an authorization server's URL; raises ValueError, which shows nothing that may be secret."""
    text = checked_text(value)
    parse_endpoint(text)
    return text


def parse_endpoint(text: str) -> Url:
    """Return the parsed URL of an authorization server; raises as `parse_url`."""
    return parse_url(text, "https://host/path, without user, password and fragment")


def parse_url(text: str, write: str) -> Url:
    """Return the parsed URL. Raise ValueError unless it is http or https without user, password and fragment.

    The error shows the URL without what may be secret, and says to `write` something like that instead.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _no_endpoint(text, write) from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or parts.fragment or parts.username is not None:
        raise _no_endpoint(text, write)
    if not _PRINTABLE.fullmatch(text):
        raise _no_endpoint(text, write)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(parts.scheme == "https", parts.hostname, port or _DEFAULT_PORTS[parts.scheme], target)


def _no_endpoint(text: str, write: str) -> ValueError:
    return ValueError(f"{mask_url(text)!r} is no endpoint; write {write}")
