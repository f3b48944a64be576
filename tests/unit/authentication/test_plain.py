"""PLAIN as a server: the password is checked with the SCRAM key, and nothing else is accepted."""

from __future__ import annotations

import pytest

from kproxy.authentication.exchange import AuthenticationRefusedError
from kproxy.authentication.plain import Plain
from kproxy.authentication.users import Credential, Users, credential

SHA_512 = "SCRAM-SHA-512"
USERS = Users({(SHA_512, "alice"): credential(SHA_512, "pencil", b"salt", 4096)}, b"secret")


@pytest.mark.parametrize("message", [b"\0alice\0pencil", b"alice\0alice\0pencil"])
def test_a_user_is_accepted(message: bytes) -> None:
    """With and without an authorization id, by the key of whichever mechanism there is."""
    step = Plain(USERS).step(message)
    assert (step.answer, step.principal) == (b"", "User:alice")


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"\0alice\0wrong", "unknown or the password is wrong"),
        (b"\0bob\0pencil", "unknown or the password is wrong"),
        (b"bob\0alice\0pencil", "another user"),
        (b"\0alice\0", "not PLAIN's"),
        (b"\0\0pencil", "not PLAIN's"),
        (b"\0alice\0pencil\0", "not PLAIN's"),
        (b"\xff\0alice\0pencil", "not PLAIN's"),
    ],
)
def test_what_is_refused(message: bytes, why: str) -> None:
    """The reason has no password."""
    with pytest.raises(AuthenticationRefusedError, match=why) as refused:
        Plain(USERS).step(message)
    assert "pencil" not in str(refused.value)


def test_a_password_that_was_right_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known from then on, for its user alone, and until the file is read again."""
    credentials = {(SHA_512, name): credential(SHA_512, "pencil", b"salt", 4096) for name in ("alice", "carol")}
    hashed: list[str] = []
    matches = Credential.matches

    def counted(self: Credential, password: str) -> bool:
        hashed.append(password)
        return matches(self, password)

    monkeypatch.setattr(Credential, "matches", counted)
    plain = Plain(Users(credentials, b"secret"))
    assert plain.recall(b"\0alice\0pencil") is None
    first = plain.step(b"\0alice\0pencil")
    assert plain.recall(b"\0alice\0pencil") == first
    assert plain.step(b"alice\0alice\0pencil") == first
    assert hashed == ["pencil"]
    for other in (b"\0alice\0wrong", b"\0carol\0pencil", b"\0nobody\0pencil"):
        assert plain.recall(other) is None
    with pytest.raises(AuthenticationRefusedError, match="another user"):
        plain.recall(b"carol\0alice\0pencil")
    assert Plain(Users(credentials, b"secret")).recall(b"\0alice\0pencil") is None


@pytest.mark.parametrize("message", [b"\0alice\0wrong", b"\0nobody\0pencil"])
def test_a_wrong_password_is_not_remembered(message: bytes) -> None:
    """Nor is that of a user who is unknown."""
    plain = Plain(Users({(SHA_512, "alice"): credential(SHA_512, "pencil", b"salt", 4096)}, b"secret"))
    with pytest.raises(AuthenticationRefusedError):
        plain.step(message)
    assert plain.recall(message) is None
