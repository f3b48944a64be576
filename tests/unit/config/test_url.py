"""kproxy.config.url: what an endpoint's URL may be, and what errors and logs show of it."""

from __future__ import annotations

import pytest

from kproxy.config.url import Url, parse_url

WRITE = "http://host:4318/v1"


@pytest.mark.parametrize(
    ("text", "url", "where"),
    [
        ("http://a", Url(False, "a", 80, "/"), "http://a:80/"),
        ("https://a/v1?k=s", Url(True, "a", 443, "/v1?k=s"), "https://a:443/v1"),
        ("http://[::1]:4318/x", Url(False, "::1", 4318, "/x"), "http://[::1]:4318/x"),
    ],
)
def test_urls(text: str, url: Url, where: str) -> None:
    """Scheme, host, port and target; logs leave out the query, which may be secret."""
    assert parse_url(text, WRITE) == url
    assert url.where == where


NO_URLS = (
    "",
    "a:4318",
    "ftp://a?k=pa55",
    "http://",
    "http://u:pa55@a/",
    "http://a/#pa55",
    "http://a:x/?pa55",
    "http://a/ b?k=pa55",
    "http://a/é?k=pa55",
)


@pytest.mark.parametrize("text", NO_URLS)
def test_no_urls(text: str) -> None:
    """The error says what to write, and shows the URL without what may be secret."""
    with pytest.raises(ValueError, match=r"is no endpoint; write http://host:4318/v1") as caught:
        parse_url(text, WRITE)
    assert "pa55" not in str(caught.value)
