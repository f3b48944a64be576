"""kproxy.admin.origin: whose commands a browser may send, and that whoever is no browser may use any name."""

from __future__ import annotations

import pytest

from kproxy.admin.message import HttpError, Request
from kproxy.admin.origin import check_page

OWN = frozenset({"kproxy.example.com"})


def command(**headers: str) -> Request:
    """A command with these headers: `sec_fetch_site` is Sec-Fetch-Site."""
    return Request("POST", "/x", headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    "host", ["", "kproxy:9190", "kproxy.kafka.svc.cluster.local:9190", "10.1.2.3:9190", "anything.at.all"]
)
def test_what_is_no_browser_may_use_any_name(host: str) -> None:
    """curl, `kproxy` and Kubernetes send no Origin, no Referer and no Sec-Fetch-Site."""
    check_page(command(host=host), OWN)
    check_page(command(host=host), ())


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:9190", "127.0.0.1", "[::1]:9190", "[::1]", "localhost:9190", "LOCALHOST", "kproxy.localhost:9190",
        "kproxy.example.com:9190", "KPROXY.Example.com", "kproxy.example.com.:9190",
    ],
)  # fmt: skip
def test_a_page_of_this_very_host(host: str) -> None:
    """By address, as localhost, or by a name that the configuration lists; https where a gateway is in front."""
    for scheme in ("http", "https"):
        check_page(command(host=host, origin=f"{scheme}://{host}", sec_fetch_site="same-origin"), OWN)
    check_page(command(host=host, referer=f"http://{host}/path?query"), OWN)
    check_page(command(host=host, sec_fetch_site="none"), OWN)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://["},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "http://127.0.0.1:9190, http://evil.example"},
        {"referer": "http://evil.example/127.0.0.1:9190"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "origin": "http://127.0.0.1:9190"},
        {"sec_fetch_site": "Cross-Site"},
        {"sec_fetch_site": "new-in-2030"},
    ],
)
def test_a_page_of_another_site(headers: dict[str, str]) -> None:
    """Whichever header says so (CSRF): a page at another port of the same host is another site, too."""
    with pytest.raises(HttpError, match=r"may not do this.*use curl") as caught:
        check_page(command(host="127.0.0.1:9190", **headers), OWN)
    assert caught.value.status == 403


@pytest.mark.parametrize("host", ["evil.example:9190", "evil.example", "xlocalhost", "", "kproxy.example.com.evil:1"])
def test_a_name_that_was_made_to_lead_here(host: str) -> None:
    """DNS rebinding: for the browser it is the same site, and only the name tells."""
    with pytest.raises(HttpError, match=r"under the name .*`admin.allowed_hosts`") as caught:
        check_page(command(host=host, origin=f"http://{host}" if host else ""), OWN)
    assert caught.value.status == 403
    with pytest.raises(HttpError, match="under the name"):
        check_page(command(host=host, sec_fetch_site="same-origin"), OWN)
