"""The settings of kproxy's own identity at brokers that ask for SASL. Those of clients pass, and need no setting.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import Field

from kproxy.config.base import ConsistentSettings, Path
from kproxy.config.client_credentials import ClientCredentials
from kproxy.config.secret import Line, Password

_BEARER: Final = "OAUTHBEARER"
_READABLE: Final = frozenset({"PLAIN", _BEARER})


class Identity(ConsistentSettings):
    """How kproxy's own client authenticates where brokers ask for SASL. An entry of `upstreams` may have its own."""

    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        description="The SASL mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER."
    )
    username: Line | None = Field(
        default=None, description="The user, for all mechanisms but OAUTHBEARER, whose token names it."
    )
    password: Password | None = Field(default=None, description="The user's password; it is never shown or logged.")
    password_file: Line | None = Field(
        default=None,
        description="A file with the password, instead of `password`. It is read at each authentication, so that a "
        "new password counts at once. One line end at its end is no part of it.",
    )
    token_file: Line | None = Field(
        default=None,
        description="For OAUTHBEARER: a file with the token (a JWT), which something else renews. It is read at each "
        "authentication.",
    )
    client_credentials: ClientCredentials | None = Field(
        default=None,
        description="For OAUTHBEARER, instead of `token_file`: kproxy gets its tokens from an authorization server.",
    )

    @property
    def is_readable(self) -> bool:
        """True when who can read the connection has the secret."""
        return self.mechanism in _READABLE

    def _problems(self) -> Iterator[tuple[Path, str]]:
        return self._of_bearer() if self.mechanism == _BEARER else self._of_user()

    def _of_bearer(self) -> Iterator[tuple[Path, str]]:
        if self.token_file is None and self.client_credentials is None:
            yield ("token_file",), "is required by OAUTHBEARER, or `client_credentials`"
        if self.token_file is not None and self.client_credentials is not None:
            yield ("token_file",), "stands beside client_credentials: give one of both"
        for name in ("username", "password", "password_file"):
            if getattr(self, name) is not None:
                hint = "give `token_file` or `client_credentials` alone"
                yield (name,), f"is not for OAUTHBEARER, whose token names the user: {hint}"

    def _of_user(self) -> Iterator[tuple[Path, str]]:
        if self.username is None:
            yield ("username",), f"is required by {self.mechanism}"
        for name in ("token_file", "client_credentials"):
            if getattr(self, name) is not None:
                yield (name,), f"is for OAUTHBEARER, not for {self.mechanism}"
        if self.password is None and self.password_file is None:
            yield ("password",), f"is required by {self.mechanism}, here or in a `password_file`"
        if self.password is not None and self.password_file is not None:
            yield ("password_file",), "stands beside password: give one of both"
