"""SCRAM as a server: kproxy's own client is accepted, and whatever is not its exchange is refused."""

from __future__ import annotations

import base64

import pytest

from kproxy.authentication.exchange import AuthenticationRefusedError
from kproxy.authentication.scram import Scram
from kproxy.authentication.users import Users, credential
from kproxy.upstream.scram import SaslError, scram

SHA_256, SHA_512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
NAME, PASSWORD = "a,b=c", "pencil"
NONCE = "3rfcNHYJY1ZVvWVs7j"


def users(mechanism: str = SHA_256) -> Users:
    """One user."""
    return Users({(mechanism, NAME): credential(mechanism, PASSWORD, b"0123456789abcdef", 4096)}, b"secret")


def run(server: Scram, mechanism: str, name: str, password: str) -> str | None:
    """Have kproxy's own client authenticate; return the principal."""
    client = scram(mechanism, name, password, "client")
    challenge = server.step(next(client))
    final = server.step(client.send(challenge.answer))
    with pytest.raises(StopIteration):
        client.send(final.answer)
    return final.principal


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
def test_a_user_is_accepted_and_accepts_the_server(mechanism: str) -> None:
    """Both proofs are right, with a name that has to be escaped."""
    assert run(Scram(mechanism, users(mechanism), NONCE), mechanism, NAME, PASSWORD) == f"User:{NAME}"


def test_the_exchange_of_rfc_7677() -> None:
    """The messages of the RFC's example, byte by byte."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    known = Users({(SHA_256, "user"): credential(SHA_256, PASSWORD, salt, 4096)}, b"")
    server = Scram(SHA_256, known, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    first = server.step(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    nonce = b"rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    assert first.answer == b"r=" + nonce + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    assert first.principal is None
    last = server.step(b"c=biws,r=" + nonce + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    assert last.answer == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert last.principal == "User:user"


@pytest.mark.parametrize(("name", "password"), [(NAME, "wrong"), ("nobody", PASSWORD), ("nobody", "")])
def test_an_unknown_user_is_refused_as_a_wrong_password_is(name: str, password: str) -> None:
    """Both get a challenge, and the same refusal."""
    server, client = Scram(SHA_256, users(), NONCE), scram(SHA_256, name, password, "client")
    challenge = server.step(next(client)).answer
    assert challenge.endswith(b",i=4096")
    with pytest.raises(AuthenticationRefusedError, match="unknown or the password is wrong"):
        server.step(client.send(challenge))


def test_an_unknown_user_has_the_same_salt_each_time() -> None:
    """A salt that changes would tell who is unknown."""
    first = b"n,,n=nobody,r=x"
    answers = {Scram(SHA_256, users(), NONCE).step(first).answer for _ in range(2)}
    assert len(answers) == 1
    assert Scram(SHA_256, users(), NONCE).step(b"n,,n=other,r=x").answer not in answers


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"", "not SCRAM's"),
        (b"\xff", "not UTF-8"),
        (b"p=tls-unique,,n=user,r=x", "channel binding"),
        (b"n,,n=,r=x", "not SCRAM's"),
        (b"n,,n=us=er,r=x", "not SCRAM's"),
        (b"n,,n=user,r=", "not SCRAM's"),
        (b"n,,n=user,r=" + b"x" * 257, "not SCRAM's"),
        (b"n,,n=user,r=x,tokenauth=true", "extensions"),
        (b"n,a=other,n=user,r=x", "another user"),
    ],
)
def test_first_messages_that_are_refused(message: bytes, why: str) -> None:
    """None of them gets a challenge."""
    with pytest.raises(AuthenticationRefusedError, match=why):
        Scram(SHA_256, users(), NONCE).step(message)


@pytest.mark.parametrize(
    ("final", "why"),
    [
        (b"c=biws,r=clientX,p=AAAA", "another exchange"),
        (b"c=eSws,r=client" + NONCE.encode() + b",p=AAAA", "another exchange"),
        (b"c=biws,r=client" + NONCE.encode() + b",p=AAAA", "password is wrong"),
        (b"c=biws,r=client" + NONCE.encode() + b",p=A", "not base64"),
        (b"c=biws,r=client" + NONCE.encode(), "not SCRAM's"),
    ],
)
def test_last_messages_that_are_refused(final: bytes, why: str) -> None:
    """Another nonce or binding, a proof of the wrong length, no proof."""
    server = Scram(SHA_256, users(), NONCE)
    server.step(b"n,,n=a=2Cb=3Dc,r=client")
    with pytest.raises(AuthenticationRefusedError, match=why):
        server.step(final)


def test_a_server_that_does_not_know_the_key_is_refused_by_the_client() -> None:
    """The server's proof is made of a key that only the file has."""
    other = credential(SHA_256, "other", b"0123456789abcdef", 4096)
    right = credential(SHA_256, PASSWORD, b"0123456789abcdef", 4096)
    mixed = type(right)(SHA_256, right.salt, right.iterations, right.stored_key, other.server_key)
    server = Scram(SHA_256, Users({(SHA_256, NAME): mixed}, b""), NONCE)
    client = scram(SHA_256, NAME, PASSWORD, "client")
    final = server.step(client.send(server.step(next(client)).answer))
    with pytest.raises(SaslError, match="signature is wrong"):
        client.send(final.answer)
