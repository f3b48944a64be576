"""kproxy.upstream.scram: the RFCs' own exchanges, and everything that a broker may get wrong."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import NamedTuple

import pytest

from kproxy.upstream.scram import HASHES, Challenge, Exchange, SaslError, challenge_of, scram

NONCE = "rOprNGfwEbeRWgbNEkqO"
SALT = base64.b64encode(b"salt of sixteen b").decode()


class Vector(NamedTuple):
    """An exchange as an RFC has it; the user is `user`, the password `pencil`."""

    mechanism: str
    hash: str
    nonce: str
    server_first: str
    client_final: str
    server_final: str


RFC_5802 = Vector(
    "SCRAM-SHA-1",
    "sha1",
    "fyko+d2lbbFgONRv9qkxdawL",
    "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
    "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
    "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
)
RFC_7677 = Vector(
    "SCRAM-SHA-256",
    "sha256",
    NONCE,
    f"r={NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    f"c=biws,r={NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
)


def ended(exchange: Exchange, answer: bytes) -> bool:
    """Give the exchange the last answer; True when it is content."""
    try:
        exchange.send(answer)
    except StopIteration:
        return True
    return False


@pytest.mark.parametrize("vector", [RFC_5802, RFC_7677], ids=lambda vector: vector.mechanism)
def test_the_exchanges_of_the_rfcs(vector: Vector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message is the RFC's, to the byte."""
    monkeypatch.setitem(HASHES, vector.mechanism, vector.hash)
    exchange = scram(vector.mechanism, "user", "pencil", vector.nonce)
    assert next(exchange) == f"n,,n=user,r={vector.nonce}".encode()
    assert exchange.send(vector.server_first.encode()) == vector.client_final.encode()
    assert ended(exchange, vector.server_final.encode())


def test_the_longer_hash() -> None:
    """SCRAM-SHA-512, against the server's side as the RFC describes it, written for this test."""
    exchange = scram("SCRAM-SHA-512", "a,b=c", "pencil", NONCE)
    first = next(exchange).decode()
    assert first == f"n,,n=a=2Cb=3Dc,r={NONCE}"
    challenge = f"r={NONCE}more,s={SALT},i=5000"
    final = exchange.send(challenge.encode()).decode()
    without, _, proof = final.rpartition(",p=")
    signed = f"{first[3:]},{challenge},{without}".encode()
    salted = hashlib.pbkdf2_hmac("sha512", b"pencil", base64.b64decode(SALT), 5000)
    stored = hashlib.sha512(hmac.digest(salted, b"Client Key", "sha512")).digest()
    signature = hmac.digest(stored, signed, "sha512")
    key = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
    assert hashlib.sha512(key).digest() == stored
    server = hmac.digest(hmac.digest(salted, b"Server Key", "sha512"), signed, "sha512")
    assert ended(exchange, b"v=" + base64.b64encode(server))


def test_what_a_broker_asks_for() -> None:
    """Nonce, salt and iterations; extensions after them do not matter (RFC 5802, 5.1)."""
    assert challenge_of("r=abc,s=c2FsdA==,i=4096,x=y", "ab") == Challenge("abc", b"salt", 4096)
    assert challenge_of("r=abc,s=c2FsdA==,i=1000000", "ab").iterations == 1_000_000


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "is not SCRAM's"),
        ("e=other-error", "is not SCRAM's"),
        ("m=must,r=abc,s=c2FsdA==,i=4096", "is not SCRAM's"),
        ("r=abc,s=c2FsdA==", "is not SCRAM's"),
        ("r=abc,s=c2FsdA==,i=0", "is not SCRAM's"),
        ("r=abc,s=c2FsdA==,i=-1", "is not SCRAM's"),
        ("r=ab,s=c2FsdA==,i=4096", "does not continue kproxy's"),
        ("r=xabc,s=c2FsdA==,i=4096", "does not continue kproxy's"),
        ("r=abc,s=c2FsdA==,i=4095", "4095 iterations, where 4096 to 1000000 are allowed"),
        ("r=abc,s=c2FsdA==,i=1000001", "1000001 iterations"),
        ("r=abc,s=c2FsdA,i=4096", "not base64"),
    ],
)
def test_what_must_not_be_answered(answer: str, why: str) -> None:
    """Each has its reason, and nothing that depends on the password is sent."""
    with pytest.raises(SaslError, match=why):
        challenge_of(answer, "ab")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "is not SCRAM's"),
        (b"\xff", "not UTF-8"),
        (b"e=invalid-proof", "refuses the proof"),
        (b"v=!", "is not SCRAM's"),
        (b"v=abc", "not base64"),
        (b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", "signature is wrong"),
        (b"v=", "is not SCRAM's"),
    ],
)
def test_a_broker_that_does_not_know_the_password(answer: bytes, why: str) -> None:
    """The client is not content, and says why."""
    exchange = scram("SCRAM-SHA-256", "user", "pencil", NONCE)
    next(exchange)
    exchange.send(RFC_7677.server_first.encode())
    with pytest.raises(SaslError, match=why):
        exchange.send(answer)
