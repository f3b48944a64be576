"""How a virtual cluster authenticates its clients: by which mechanisms, whom, and for how long.

`Cluster` has one with what the file of users said when it was last read.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kproxy.authentication.exchange import InTurn, Step
from kproxy.authentication.plain import Plain
from kproxy.authentication.scram import Scram
from kproxy.authentication.users import Credential, Users, decoded, parsed
from kproxy.errors import ConfigError, bare_reason

if TYPE_CHECKING:
    from kproxy.authentication.certificate_rules import CertificateRules
    from kproxy.authentication.exchange import Exchange
    from kproxy.authentication.jwks import TokenVerifier
    from kproxy.config.authentication import Authentication

PLAIN: Final = "PLAIN"
OAUTHBEARER: Final = "OAUTHBEARER"
MTLS: Final = "mTLS"
"""How clients that have authenticated by their certificates are counted."""
MOST_BYTES: Final = 66 << 10
"""Of a request that any mechanism needs: a token with many groups, and what is around it."""
_SHORT_BYTES: Final = 16 << 10
"""The same without OAUTHBEARER; SCRAM's messages have some 200."""
REFUSAL_DELAY: Final = 0.1
"""Seconds before a client is told that it is refused: Kafka's connection.failed.authentication.delay.ms."""
_NONCE_BYTES: Final = 24
_SECRET: Final = secrets.token_bytes(32)
"""Makes the salts of unknown users; they are the same as long as the process runs."""


class Authenticator:
    """Begins the exchanges of clients."""

    def __init__(
        self,
        mechanisms: Sequence[str],
        users: Users,
        lifetime: float | None,
        *,
        tokens: TokenVerifier | None = None,
        certificates: CertificateRules | None = None,
    ) -> None:
        """`lifetime` is a session's in seconds, None for no end."""
        self.mechanisms = tuple(mechanisms)
        self.lifetime = lifetime
        self.tokens = tokens
        """Verifies those of OAUTHBEARER; None where that is not offered."""
        self.certificates = certificates
        """Say who clients are, in place of every mechanism; None where SASL does."""
        self._users = users

    @property
    def most_bytes(self) -> int:
        """The most bytes of a request of a client that is not authenticated yet."""
        return _SHORT_BYTES if self.tokens is None else MOST_BYTES

    def begin(self, mechanism: str, in_turn: InTurn) -> Exchange | None:
        """Return a new exchange; None where the mechanism is not offered. Passwords are checked by `in_turn`."""
        if mechanism not in self.mechanisms:
            return None
        if mechanism == OAUTHBEARER:
            from kproxy.authentication.bearer import Bearer  # noqa: PLC0415 (cryptography: 12 MiB)

            assert self.tokens is not None, "settings that offer OAUTHBEARER say how tokens are verified"
            return Bearer(self.tokens)
        if mechanism == PLAIN:
            return _InTurn(Plain(self._users), in_turn)
        return _AtOnce(Scram(mechanism, self._users, secrets.token_urlsafe(_NONCE_BYTES)))


class _InTurn:
    """An exchange of PLAIN: thousands of hashes, but for a password that was right before."""

    def __init__(self, plain: Plain, in_turn: InTurn) -> None:
        self._plain = plain
        self._in_turn = in_turn

    async def step(self, message: bytes) -> Step:
        known = self._plain.recall(message)
        return known or await self._in_turn(partial(self._plain.step, message))


class _AtOnce:
    """An exchange of SCRAM, whose hashes the client makes; kproxy makes a few."""

    def __init__(self, scram: Scram) -> None:
        self._scram = scram

    async def step(self, message: bytes) -> Step:
        return self._scram.step(message)


def read_authenticator(settings: Authentication, key: str) -> Authenticator:
    """Read the files that the settings name; `key` names the settings. Blocks.

    Raises `ConfigError` with the file and the reason. Keys of tokens that are at a URL are read later.
    """
    return Authenticator(
        settings.mechanisms,
        Users(_users(settings.users_file, key), _SECRET),
        settings.session_lifetime,
        tokens=_tokens(settings, key),
        certificates=_certificates(settings),
    )


def _certificates(settings: Authentication) -> CertificateRules | None:
    if not settings.certificates:
        return None
    from kproxy.authentication.certificate_rules import CertificateRules  # noqa: PLC0415 (RE2: 3 MiB)

    return CertificateRules(settings.certificates)


def _tokens(settings: Authentication, key: str) -> TokenVerifier | None:
    if settings.oauthbearer is None:
        return None
    from kproxy.authentication.jwks import TokenVerifier, keys_of_file  # noqa: PLC0415 (cryptography: 12 MiB)

    found = TokenVerifier(settings.oauthbearer)
    if settings.oauthbearer.jwks_file is not None:
        found.keys = keys_of_file(settings.oauthbearer.jwks_file, f"{key}.oauthbearer.jwks_file")
    return found


def _users(file: str | None, key: str) -> Mapping[tuple[str, str], Credential]:
    if file is None:
        return {}
    try:
        return parsed(decoded(Path(file).read_bytes()))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{key}.users_file", f"{file}: {bare_reason(error)}") from None
