"""The names in SASL messages, and when they are believed."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode

import pytest

from kproxy.relay.apis.sasl import MAX_NAME, MECHANISMS, Exchanges, bearer, plain, scram

SECRET = b"s3cr3t"
FINAL = b"c=biws,r=abc,p=proof"
VERIFIER = b"v=verifier"


def jwt(claims: object, *, signature: str = "c2ln") -> bytes:
    """A token of claims, unpadded as RFC 7515 requires."""
    body = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    return b".".join((b"eyJhbGciOiJub25lIn0", urlsafe_b64encode(body).rstrip(b"="), signature.encode()))


def token_message(token: bytes, authzid: bytes = b"", more: bytes = b"") -> bytes:
    """A client's message of RFC 7628."""
    return b"n," + authzid + b",\x01auth=Bearer " + token + b"\x01" + more + b"\x01"


def accepted(mechanism: str, first: bytes, challenge: bytes, *, error: bool = False) -> str | None:
    """The name that the exchange proves if the client's last message gets this answer."""
    exchanges = Exchanges()
    exchanges.begin(mechanism)
    for number in range(MECHANISMS[mechanism].messages):
        last = number == MECHANISMS[mechanism].messages - 1
        exchanges.say(FINAL if number else first)
        found = exchanges.hear(None if error and last else challenge if last else b"r=abc,s=salt,i=4096")
        assert last or found is None
    assert exchanges.over
    return found


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (b"\0alice\0" + SECRET, "alice"),
        (b"alice\0alice\0" + SECRET, "alice"),
        (b"admin\0alice\0" + SECRET, "admin"),
        ("\0жанна\0\xff".encode(), "жанна"),
        (b"\0alice\0\xff\xfe", "alice"),
        (b"\0a,b=c\0" + SECRET, "a,b=c"),
        (b"\0" + b"n" * MAX_NAME + b"\0" + SECRET, "n" * MAX_NAME),
        (b"\0" + b"n" * (MAX_NAME + 1) + b"\0" + SECRET, None),
        (b"\0\0" + SECRET, None),
        (b"\0al\xffice\0" + SECRET, None),
        (b"alice\0" + SECRET, None),
        (b"\0alice\0" + SECRET + b"\0", None),
        (b"alice", None),
        (b"", None),
    ],
)
def test_plain(message: bytes, name: str | None) -> None:
    """RFC 4616: the authorization id, else the name; None for an invalid name, or other than three parts."""
    assert plain(message) == name


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (b"n,,n=alice,r=abc", "alice"),
        (b"y,,n=alice,r=abc", "alice"),
        (b"n,a=alice,n=alice,r=abc", "alice"),
        (b"n,a=admin,n=alice,r=abc", "admin"),
        (b"n,,m=must,n=alice,r=abc", "alice"),
        (b"n,,n=alice,r=abc,ext=1", "alice"),
        (b"n,,n=a=2Cb=3Dc,r=abc", "a,b=c"),
        (b"n,,n==3D2C,r=abc", "=2C"),
        ("n,,n=жанна,r=abc".encode(), "жанна"),
        (b"n,,n=0f1e,r=abc,tokenauth=true", None),
        (b"p=tls-unique,,n=alice,r=abc", None),
        (b"n,,n=a=41b,r=abc", None),
        (b"n,,n=,r=abc", None),
        (b"n,,n=alice,r=", None),
        (b"n,,n=alice", None),
        (b"n,,n=al\xffice,r=abc", None),
        (b"n,,n=alice,r=abc\n", None),
        (b"n,,n=" + b"n" * (MAX_NAME + 1) + b",r=abc", None),
        (b"\0alice\0" + SECRET, None),
        (b"", None),
    ],
)
def test_scram(message: bytes, name: str | None) -> None:
    """RFC 5802, with its two escapes; the name of a delegation token is not used (KIP-48)."""
    assert scram(message) == name


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (token_message(jwt({"sub": "alice"})), "alice"),
        (token_message(jwt({"sub": "alice"}, signature="")), "alice"),
        (token_message(jwt({"sub": " alice "})), "alice"),
        (token_message(jwt({"sub": "жанна"})), "жанна"),
        (token_message(jwt({"sub": "alice"}), b"a=alice", b"traceId=1\x01"), "alice"),
        (b"n,,\x01host=b\x01auth=bearer   " + jwt({"sub": "alice"}) + b"\x01\x01", "alice"),
        (token_message(jwt({"sub": ""})), None),
        (token_message(jwt({"sub": "  "})), None),
        (token_message(jwt({"sub": 7})), None),
        (token_message(jwt({"sub": "n" * (MAX_NAME + 1)})), None),
        (token_message(jwt(b'{"sub": "\\ud800"}')), None),
        (token_message(jwt({"name": "alice"})), None),
        (token_message(jwt(["alice"])), None),
        (token_message(jwt(b"\xff")), None),
        (token_message(jwt(b"[" * 40_000)), None),
        (token_message(jwt(b'{"sub": ' + b"1" * 5000 + b"}")), None),
        (token_message(b"a.b!.c"), None),
        (token_message(b"opaque"), None),
        (token_message(b"a.b.c.d.e"), None),
        (token_message(b"a.b c.d"), None),
        (token_message(jwt({"sub": "alice"}), more=b"auth=Bearer x.y.z\x01"), None),
        (b"n,,\x01host=b\x01\x01", None),
        (b"n,,\x01auth=Basic YTpi\x01\x01", None),
        (b"n,,\x01\x01", None),
        (b"\x01", None),
        (b"", None),
    ],
)
def test_bearer(message: bytes, name: str | None) -> None:
    """RFC 7628 with a JWT: its subject; None if it is no text, no object, no JWT, or there is more than one."""
    assert bearer(message) == name


@pytest.mark.parametrize(
    ("mechanism", "first", "challenge", "name"),
    [
        ("PLAIN", b"\0alice\0" + SECRET, b"", "alice"),
        ("PLAIN", b"\0alice\0" + SECRET, b"whatever", "alice"),
        ("SCRAM-SHA-256", b"n,,n=alice,r=abc", VERIFIER, "alice"),
        ("SCRAM-SHA-512", b"n,,n=alice,r=abc", VERIFIER, "alice"),
        ("SCRAM-SHA-512", b"n,,n=alice,r=abc", b"e=invalid-proof", None),
        ("SCRAM-SHA-512", b"n,,n=alice,r=abc", b"", None),
        ("SCRAM-SHA-512", b"n,,alice", VERIFIER, None),
        ("OAUTHBEARER", token_message(jwt({"sub": "alice"})), b"", "alice"),
        ("OAUTHBEARER", token_message(jwt({"sub": "alice"})), b'{"status":"invalid_token"}', None),
    ],
)
def test_a_name_is_believed_when_the_broker_has_accepted_it(
    mechanism: str, first: bytes, challenge: bytes, name: str | None
) -> None:
    """By the answer to the last message; an error, or a refusal in the mechanism's own form, proves no name."""
    assert accepted(mechanism, first, challenge) == name
    assert accepted(mechanism, first, challenge, error=True) is None


@pytest.mark.parametrize("mechanism", ["GSSAPI", "AWS_MSK_IAM", "plain", "", None])
def test_mechanisms_that_show_no_name(mechanism: str | None) -> None:
    """Any number of messages, each accepted: no name is learnt, and nothing is kept."""
    exchanges = Exchanges()
    exchanges.begin(mechanism)
    for _ in range(3):
        exchanges.say(b"\0alice\0" + SECRET)
        assert exchanges.hear(b"") is None
        assert exchanges.over


def test_messages_beyond_the_mechanism_prove_nothing() -> None:
    """After the exchange is over, names are not believed until the client begins a new one."""
    exchanges = Exchanges()
    exchanges.begin("PLAIN")
    exchanges.say(b"\0alice\0" + SECRET)
    exchanges.say(b"\0mallory\0" + SECRET)
    assert (exchanges.hear(b""), exchanges.over) == ("alice", False)
    assert (exchanges.hear(b""), exchanges.over) == (None, True)
    exchanges.begin("PLAIN")
    exchanges.say(b"\0bob\0" + SECRET)
    assert exchanges.hear(b"") == "bob"


def test_a_refused_name_does_not_ride_on_anothers_answer() -> None:
    """A client that does not wait: each answer counts for its own request, across exchanges."""
    exchanges = Exchanges()
    exchanges.begin("PLAIN")
    exchanges.say(b"\0admin\0guess")
    exchanges.begin("PLAIN")
    exchanges.say(b"\0mallory\0" + SECRET)
    assert (exchanges.hear(None), exchanges.hear(b"")) == (None, "mallory")


def test_a_scram_exchange_counts_its_messages() -> None:
    """The answer to the first proves nothing, whatever it is; a new handshake begins at the first message again."""
    exchanges = Exchanges()
    exchanges.begin("SCRAM-SHA-256")
    exchanges.say(b"n,,n=admin,r=abc")
    assert exchanges.hear(VERIFIER) is None
    exchanges.begin("SCRAM-SHA-256")
    exchanges.say(b"n,,n=mallory,r=abc")
    assert (exchanges.hear(VERIFIER), exchanges.over) == (None, False)
    exchanges.say(FINAL)
    assert (exchanges.hear(VERIFIER), exchanges.over) == ("mallory", True)


@pytest.mark.parametrize("message", [None, b"\0alice\0" + b"p" * (64 << 10)], ids=["unreadable", "too long"])
def test_a_message_that_is_not_read(message: bytes | None) -> None:
    """It counts as one of the exchange's messages all the same."""
    exchanges = Exchanges()
    exchanges.begin("PLAIN")
    exchanges.say(message)
    assert (exchanges.hear(b""), exchanges.over) == (None, True)


def test_no_secret_is_kept() -> None:
    """While a broker's answer is awaited, the name can be reached from the exchanges, and the password cannot."""
    exchanges = Exchanges()
    exchanges.begin("PLAIN")
    exchanges.say(b"\0alice\0" + SECRET)
    kept = repr([getattr(exchanges, name) for name in Exchanges.__slots__])
    assert "alice" in kept
    assert SECRET.decode() not in kept
