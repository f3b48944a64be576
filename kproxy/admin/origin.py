# This module is pure (no I/O, no clock).
"""Whether a request that changes something comes from a web page, and from which: `dispatch.find` asks for each one.

A command on kproxy's own machine needs no token, and browsers send requests for every page that is open in them. A page
of another site names itself in Origin (CSRF). A page whose name was made to lead to kproxy's address (DNS rebinding) is
the same site for the browser: its name is in Host, too. Only what browsers send is checked, so curl, `kproxy` and
Kubernetes may use any name for kproxy.
"""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from kproxy.admin.message import HttpError, Request
from kproxy.config.address import is_ip_literal

_SAME: Final = frozenset({"same-origin", "none"})
"""The values of Sec-Fetch-Site for a page of this very host and port, and for what a person typed."""


def check_page(request: Request, hosts: Collection[str]) -> None:
    """Raise `HttpError` 403 for a request that a browser sent for a page of another site.

    `hosts` are names of kproxy in lower case: `admin.allowed_hosts`, and the one that the admin port listens on.
    """
    site = request.headers.get("sec-fetch-site", "").lower()
    page = request.headers.get("origin", request.headers.get("referer"))
    if not site and page is None:
        return
    if site and site not in _SAME:
        raise _refusal(f"a page of another site ({page or site}) may not do this")
    host = request.headers.get("host", "").lower()
    if page is not None and _authority(page) != host:
        raise _refusal(f"a page of {page} may not do this: it is not {host or 'this host'}")
    if not _is_own(_name(host), hosts):
        raise _refusal(f"a page may not do this under the name {_name(host)!r}")


def _refusal(reason: str) -> HttpError:
    remedy = "use curl or `kproxy`, kproxy's address, or a name in `admin.allowed_hosts`"
    return HttpError(HTTPStatus.FORBIDDEN, f"{reason}; {remedy}")


def _is_own(name: str, hosts: Collection[str]) -> bool:
    return name == "localhost" or name.endswith(".localhost") or is_ip_literal(name) or name in hosts


def _authority(url: str) -> str:
    """host:port of a URL, as Host has it; "" for "null" and what is no URL."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def _name(authority: str) -> str:
    """The host of host:port, without a port, the brackets of IPv6, and the dot at the end of a full name."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0].removesuffix(".")
