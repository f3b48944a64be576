"""The settings of kproxy's own identity at brokers that ask for SASL. Those of clients pass, and need no setting.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from kproxy.config.address import is_ip_literal
from kproxy.config.base import Path, Settings, refuse

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BEARER: Final = "OAUTHBEARER"
_READABLE: Final = frozenset({"PLAIN", _BEARER})


def _check_name(name: str) -> str:
    if not name or _CONTROL.search(name):
        raise ValueError("must not be empty, and must have no control characters")
    return name


def _password(value: Any) -> Any:
    """Refuse a password that no broker can be sent, without showing it."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if not isinstance(value, str):
        raise ValueError("must be text (in quotation marks, if it looks like something else)")
    value = value.removesuffix("\n")  # as Secrets of Kubernetes may end
    if not value or _CONTROL.search(value):
        raise ValueError("must be one line, and not empty (its value is not shown here)")
    return value


Name = Annotated[str, AfterValidator(_check_name)]
Password = Annotated[SecretStr, BeforeValidator(_password, json_schema_input_type=str)]


class Identity(Settings):
    """How kproxy's own client authenticates where brokers ask for SASL. An entry of `upstreams` may have its own."""

    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        description="The SASL mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER."
    )
    username: Name | None = Field(
        default=None, description="The user, for all mechanisms but OAUTHBEARER, whose token names it."
    )
    password: Password | None = Field(default=None, description="The user's password; it is never shown or logged.")
    password_file: Name | None = Field(
        default=None,
        description="A file with the password, instead of `password`. It is read at each authentication, so that a "
        "new password counts at once. One line end at its end is no part of it.",
    )
    token_file: Name | None = Field(
        default=None,
        description="For OAUTHBEARER: a file with the token (a JWT), which something else renews. It is read at each "
        "authentication.",
    )

    @property
    def is_readable(self) -> bool:
        """True when who can read the connection has the secret."""
        return self.mechanism in _READABLE

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := [*(self._of_bearer() if self.mechanism == _BEARER else self._of_user())]:
            refuse(found)
        return self

    def _of_bearer(self) -> Iterator[tuple[Path, str]]:
        if self.token_file is None:
            yield ("token_file",), "is required by OAUTHBEARER"
        for name in ("username", "password", "password_file"):
            if getattr(self, name) is not None:
                yield (name,), "is not for OAUTHBEARER, whose token names the user: give `token_file` alone"

    def _of_user(self) -> Iterator[tuple[Path, str]]:
        if self.username is None:
            yield ("username",), f"is required by {self.mechanism}"
        if self.token_file is not None:
            yield ("token_file",), f"is for OAUTHBEARER, not for {self.mechanism}"
        if self.password is None and self.password_file is None:
            yield ("password",), f"is required by {self.mechanism}, here or in a `password_file`"
        if self.password is not None and self.password_file is not None:
            yield ("password_file",), "stands beside password: give one of both"


def is_loopback(host: str) -> bool:
    """Return True when a connection to `host` does not leave the machine, as far as its name says."""
    if is_ip_literal(host):
        return ipaddress.ip_address(host).is_loopback
    return host.removesuffix(".").lower() == "localhost"
