# This module is pure (no I/O, no clock).
"""The file of users: for each of them and each SCRAM mechanism a salted key, and no password (RFC 5802, 3).

`read_security` parses the file; `kproxy users` writes it. A line is "MECHANISM ATTRIBUTES NAME", with the attributes as
kafka-configs shows them: "salt=…,stored_key=…,server_key=…,iterations=…". The name is the rest of the line.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kproxy.upstream.scram import FEWEST_ITERATIONS, HASHES

MOST_ITERATIONS: Final = 100_000
"""PLAIN costs kproxy so many hashes an attempt, which anyone may make: 30 ms of a processor."""
DEFAULT_ITERATIONS: Final = 8192
SALT_BYTES: Final = 16
_BASE64: Final = r"([A-Za-z0-9+/]+={0,2})"
_LINE: Final = re.compile(
    rf"(SCRAM-SHA-(?:256|512)) salt={_BASE64},stored_key={_BASE64},server_key={_BASE64},iterations=([0-9]{{1,7}}) (.+)"
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_MOST_NAME_BYTES: Final = 255
_NEVER: Final = bytes(hashlib.sha256().digest_size)


@dataclass(frozen=True, slots=True)
class Credential:
    """What a server must know of a password to check it by SCRAM; it does not reveal the password."""

    mechanism: str
    salt: bytes = field(repr=False)
    iterations: int
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    def matches(self, password: str) -> bool:
        """Return True if this is the password. Takes `iterations` hashes."""
        made = credential(self.mechanism, password, self.salt, self.iterations)
        return hmac.compare_digest(made.stored_key, self.stored_key)


def credential(mechanism: str, password: str, salt: bytes, iterations: int) -> Credential:
    """Return the credential of a password (RFC 5802, 3)."""
    name = HASHES[mechanism]
    salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", name)
    stored_key = hashlib.new(name, client_key).digest()
    return Credential(mechanism, salt, iterations, stored_key, hmac.digest(salted, b"Server Key", name))


class Users:
    """All users of a virtual cluster. An unknown one has a made-up credential, so that nobody learns who is known."""

    def __init__(self, credentials: Mapping[tuple[str, str], Credential], secret: bytes) -> None:
        """`credentials` are by mechanism and name; `secret` is random, and the same as long as the process runs."""
        self._credentials = credentials
        self._secret = secret
        self._iterations = max((one.iterations for one in credentials.values()), default=DEFAULT_ITERATIONS)
        self._mechanisms = tuple(dict.fromkeys(mechanism for mechanism, _ in credentials)) or tuple(HASHES)
        self._right: dict[str, bytes] = {}
        """Passwords that were right, by name: hashed once, with the secret."""

    @property
    def names(self) -> frozenset[str]:
        """The names of all users."""
        return frozenset(name for _, name in self._credentials)

    def find(self, mechanism: str, name: str) -> tuple[Credential, bool]:
        """Return the user's credential and True, or a made-up one and False."""
        found = self._credentials.get((mechanism, name))
        return (self._made_up(mechanism, name), False) if found is None else (found, True)

    def find_any(self, name: str) -> tuple[Credential, bool]:
        """As `find`, by whichever mechanism the user has: PLAIN sends the password itself."""
        keys = ((mechanism, name) for mechanism in self._mechanisms)
        mechanism = next((key[0] for key in keys if key in self._credentials), self._mechanisms[0])
        return self.find(mechanism, name)

    def remember(self, name: str, password: str) -> None:
        """Note that a known user's password is right. Any thread may call it."""
        self._right[name] = self._hashed(name, password)

    def recall(self, name: str, password: str) -> bool:
        """Return True if this is the password that was right. An unknown name takes as long."""
        return hmac.compare_digest(self._right.get(name, _NEVER), self._hashed(name, password))

    def _hashed(self, name: str, password: str) -> bytes:
        return hmac.digest(self._secret, f"{name}\0{password}".encode(), "sha256")

    def _made_up(self, mechanism: str, name: str) -> Credential:
        """Return what no password fits; a name's salt stays the same, as a user's does."""
        made = hmac.digest(self._secret, f"{mechanism} {name}".encode(), "sha512")
        size = hashlib.new(HASHES[mechanism]).digest_size
        return Credential(mechanism, made[:SALT_BYTES], self._iterations, made[-size:], made[-size:])


def line_of(name: str, found: Credential) -> str:
    """Return the line of a user's credential; raises ValueError for a name that no line can hold."""
    if problem := name_problem(name):
        raise ValueError(problem)
    salt, stored, server = (base64.b64encode(one).decode() for one in (found.salt, found.stored_key, found.server_key))
    return f"{found.mechanism} salt={salt},stored_key={stored},server_key={server},iterations={found.iterations} {name}"


def name_problem(name: str) -> str:
    """Return why this is no user's name, "" where it is one."""
    if not name or name != name.strip():
        return "a user's name must not be empty, or begin or end with a blank"
    if _CONTROL.search(name):
        return "a user's name must not have a control character, as a line end, in it"
    if len(name.encode(errors="replace")) > _MOST_NAME_BYTES:
        return f"a user's name has {_MOST_NAME_BYTES} bytes at most"
    return ""


def decoded(file: bytes) -> str:
    """Return a file's text. Raises ValueError, whose text does not show the file's bytes."""
    try:
        return file.decode()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None


def parsed(text: str) -> dict[tuple[str, str], Credential]:
    """Return the credentials of a file, by mechanism and name. Raises ValueError with the line, and none of its keys.

    A file that was cut in mid-line is refused: its last line has no line end.
    """
    if text and not text.endswith("\n"):
        raise ValueError("its last line has no line end: it is not whole")
    found: dict[tuple[str, str], Credential] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        name, one = _of_line(line, number)
        if (one.mechanism, name) in found:
            raise ValueError(f"line {number}: this user has an earlier line for {one.mechanism}")
        found[one.mechanism, name] = one
    return found


def text_of(credentials: Iterable[tuple[str, Credential]]) -> str:
    """Return the file of these users, by name."""
    return "".join(f"{line_of(name, one)}\n" for name, one in credentials)


def _of_line(line: str, number: int) -> tuple[str, Credential]:
    match = _LINE.fullmatch(line)
    if match is None or name_problem(match[6]):
        raise ValueError(f"line {number}: is no user; `kproxy users add` writes such lines")
    mechanism, iterations = match[1], int(match[5])
    if not FEWEST_ITERATIONS <= iterations <= MOST_ITERATIONS:
        allowed = f"{FEWEST_ITERATIONS} to {MOST_ITERATIONS} are allowed"
        raise ValueError(f"line {number}: has {iterations} iterations, where {allowed}")
    salt, stored, server = (_decoded(match[at], number) for at in (2, 3, 4))
    size = hashlib.new(HASHES[mechanism]).digest_size
    if len(stored) != size or len(server) != size:
        raise ValueError(f"line {number}: a key of {mechanism} has {size} bytes")
    return match[6], Credential(mechanism, salt, iterations, stored, server)


def _decoded(text: str, number: int) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"line {number}: is not base64 where it must be") from None
