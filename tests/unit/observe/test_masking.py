"""kproxy.observe.masking: what is left of URLs and of text with secrets in it."""

from __future__ import annotations

import json

import pytest

from kproxy.observe.masking import HIDDEN, Secrets, mask_url, mask_urls


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://collector:4318/v1/metrics", "http://collector:4318/v1/metrics"),
        ("https://u:p@c/x?a=1&token=t#f", "https://***@c/x?a=***&token=***#***"),
        ("https://u@c", "https://***@c"),
        ("https://c/?t0ken", "https://c/?***"),
        ("https://c/?a=b=c&&d", "https://c/?a=***&&***"),
        ("https://u:p@ss/w@c/", "https://***@c/"),
        ("https://u:p w@c/", "https://***@c/"),
        ("u:p@c:9092", "***@c:9092"),
        ("c/v1?token=t", "c/v1?token=***"),
        ("https://c/?next=http://u:p@d/?k=v", "https://***@d/?k=***"),
    ],
)
def test_one_url(url: str, shown: str) -> None:
    """User, password and query values are hidden, whatever stands in them; where it leads is not."""
    assert mask_url(url) == shown.replace("***", HIDDEN)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("nothing to see: a@b, what?", "nothing to see: a@b, what?"),
        ("principal User:alice@EXAMPLE.COM", "principal User:alice@EXAMPLE.COM"),
        ("https://c/v1: no answer?", "https://c/v1: no answer?"),
        ("GET https://u:p@c/x?k=v failed", "GET https://***@c/x?k=*** failed"),
        ("'https://u:p@c' is none, see https://d/?q=r", "'https://***@c' is none, see https://d/?q=***"),
    ],
)
def test_urls_in_text(text: str, shown: str) -> None:
    """URLs are masked where they stand; addresses of people and names of principals are none."""
    assert mask_urls(text) == shown.replace("***", HIDDEN)


def test_known_values() -> None:
    """A secret is hidden as it is, in JSON and in a repr; the longest first, so that no rest of one is left."""
    awkward = 'pa"ss\\wörd\n'
    secrets = Secrets(["token-1", "token-12345", awkward, ""])
    for text in ("x token-12345 y", f"x {awkward.strip()} y"):
        assert secrets.hide(text) == f"x {HIDDEN} y"
        assert secrets.hide(json.dumps(text)) == json.dumps(f"x {HIDDEN} y")
        assert secrets.hide(json.dumps(text, ensure_ascii=False)) == json.dumps(f"x {HIDDEN} y")
        assert "ss" not in secrets.hide(text.encode("unicode_escape").decode())
    assert secrets.hide("of https://c/?k=token-1 and of token-1") == f"of https://c/?k={HIDDEN} and of {HIDDEN}"


def test_nothing_is_secret() -> None:
    """Without secrets, and for values too short to be one, text stays as it is."""
    assert Secrets().hide("the text") == "the text"
    assert Secrets(["the"]).hide("the text") == "the text"


def test_secrets_are_added() -> None:
    """A reload's secrets are hidden beside the former ones: lines about those may still come."""
    secrets = Secrets(["former-secret"])
    secrets.add(["present-secret"])
    assert secrets.hide("former-secret present-secret") == f"{HIDDEN} {HIDDEN}"
