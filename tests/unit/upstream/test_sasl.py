"""kproxy.upstream.sasl: the messages of each mechanism, and what is not sent."""

from __future__ import annotations

import pytest

from kproxy.upstream.sasl import Credentials, exchange
from kproxy.upstream.scram import SaslError

TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0."


def test_plain() -> None:
    """One message, no authorization id (RFC 4616); whatever the broker answers ends it."""
    steps = exchange(Credentials("PLAIN", "käthe", "p=,w"), "n")
    assert next(steps) == "\0käthe\0p=,w".encode()
    with pytest.raises(StopIteration):
        steps.send(b"")


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram(mechanism: str) -> None:
    """It begins with the name and the nonce; test_scram.py has the rest."""
    assert next(exchange(Credentials(mechanism, "alice", "secret"), "nonce")) == b"n,,n=alice,r=nonce"


def test_a_token() -> None:
    """One message (RFC 7628, 3.1), and an empty answer."""
    steps = exchange(Credentials("OAUTHBEARER", "", TOKEN), "n")
    assert next(steps) == f"n,,\x01auth=Bearer {TOKEN}\x01\x01".encode()
    with pytest.raises(StopIteration):
        steps.send(b"")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b'{"status":"invalid_token","scope":"x"}', "invalid_token"),
        (b'{"status":5}', "no status"),
        (b'{"status":"two\\nlines"}', "no status"),
        (b'{"state":"?"}', "no status"),
        (b"[]", "no status"),
        (b"5", "no status"),
        (b"\xff{", "no status"),
        (b"[" * 100_000, "no status"),
    ],
)
def test_a_token_that_is_refused(answer: bytes, status: str) -> None:
    """It is acknowledged with a single byte (RFC 7628, 3.2.3), and then is an error with the broker's status."""
    steps = exchange(Credentials("OAUTHBEARER", "", TOKEN), "n")
    next(steps)
    assert steps.send(answer) == b"\x01"
    with pytest.raises(SaslError, match=f"refuses the token: {status}$"):
        steps.send(b"")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
@pytest.mark.parametrize(
    ("name", "password", "what"),
    [("", "secret", "user's name"), ("a\0b", "secret", "user's name"), ("a", "", "password"), ("a", "s\n", "password")],
)
def test_what_cannot_be_sent(mechanism: str, name: str, password: str, what: str) -> None:
    """Control characters would be other fields of the message; nothing shows what was given."""
    with pytest.raises(SaslError, match=f"^the {what} is empty or has a control character") as caught:
        exchange(Credentials(mechanism, name, password), "n")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "two words", "a\x01b", "a=b", "ü", "a\n"])
def test_what_is_no_token(token: str) -> None:
    """It is not sent, and not shown."""
    with pytest.raises(SaslError, match=r"^the file holds no bearer token: one word"):
        exchange(Credentials("OAUTHBEARER", "", token), "n")


def test_credentials_do_not_show_the_secret() -> None:
    """As text and in a traceback they say who, and by what."""
    for credentials in (Credentials("PLAIN", "alice", "hunter2"), Credentials("OAUTHBEARER", "", "hunter2")):
        assert "hunter2" not in f"{credentials} {credentials!r}"
    assert str(Credentials("PLAIN", "alice", "hunter2")) == "PLAIN as 'alice'"
    assert str(Credentials("OAUTHBEARER", "", "hunter2")) == "OAUTHBEARER"
