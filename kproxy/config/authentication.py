"""The settings by which clients authenticate to kproxy itself, and no longer to brokers.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from kproxy.config.base import ConsistentSettings, Path, Settings, refuse, split_commas
from kproxy.config.delivery import Text
from kproxy.config.oauthbearer import OAuthBearer
from kproxy.config.patterns import rule_pattern
from kproxy.config.tls import File
from kproxy.config.units import seconds

Mechanism: TypeAlias = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
Mechanisms = Annotated[
    tuple[Mechanism, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[Mechanism, ...])
]
Lifetime = Annotated[float, seconds(ge=2, le=30 * 86_400)]
_OAUTHBEARER: Final = "OAUTHBEARER"
_SECRETS: Final = ("PLAIN", _OAUTHBEARER)
"""Mechanisms by which a client sends what others could use."""
_GROUP: Final = re.compile(r"\$(.?)")


class CertificateRule(Settings):
    """Who a client is by the subject of its certificate. Of several rules the first that matches counts."""

    subject: Text = Field(
        description="A regex (RE2) that must match the whole subject, which is as Kafka writes it (RFC 2253): the "
        "common name first, without spaces behind commas.",
        examples=["CN=([^,]+),OU=services,O=Example"],
    )
    principal: Text = Field(description="The user's name; $1 is what the pattern's first group matches.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            groups = rule_pattern(self.subject).groups
        except ValueError as error:
            refuse([(("subject",), str(error))])
        for wanted in _GROUP.findall(self.principal):
            if not wanted.isdecimal() or int(wanted) > groups:
                refuse([(("principal",), f"${wanted} is none of the {groups} groups of `subject`")])
        return self


class Authentication(ConsistentSettings):
    """Clients authenticate to kproxy, by SASL or by their certificates. To brokers all are kproxy's `identity`."""

    mechanisms: Mechanisms = Field(
        default=(),
        description="The SASL mechanisms that clients may use: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER. A "
        "list or one string with commas.",
        examples=["SCRAM-SHA-512"],
    )
    users_file: File | None = Field(
        default=None,
        description="File of the users of PLAIN and SCRAM, with a salted key each and no password.",
    )
    oauthbearer: OAuthBearer | None = Field(
        default=None, description="Which tokens of OAUTHBEARER are accepted.", json_schema_extra={"default": None}
    )
    certificates: tuple[CertificateRule, ...] = Field(
        default=(),
        description="Rules by which a client's certificate says who it is, in place of SASL; needs `tls.client_ca`. A "
        "certificate that no rule matches is refused. As a variable: YAML.",
    )
    session_lifetime: Lifetime | None = Field(
        default=None,
        description="How long an authentication counts (KIP-368): clients authenticate again before its end, others "
        "are disconnected. Without it until the connection ends.",
    )
    dangerously_accept_secrets_without_tls: bool = Field(
        default=False,
        description="Whether PLAIN and OAUTHBEARER may be used where clients speak no TLS: whoever is on the way reads "
        "their passwords and tokens.",
    )

    @property
    def files(self) -> frozenset[str]:
        """The files that are read whenever they change."""
        keys = None if self.oauthbearer is None else self.oauthbearer.jwks_file
        return frozenset(file for file in (self.users_file, keys) if file is not None)

    def _problems(self) -> Iterator[tuple[Path, str]]:
        by_token = _OAUTHBEARER in self.mechanisms
        if len(set(self.mechanisms)) < len(self.mechanisms):
            yield ("mechanisms",), "names a mechanism twice"
        if bool(self.mechanisms) == bool(self.certificates):
            yield ("mechanisms",), "give mechanisms, or rules for `certificates`: one of both says who clients are"
        if (self.users_file is not None) != (len(self.mechanisms) > by_token):
            yield ("users_file",), "is for PLAIN and SCRAM, which need it: give both or none"
        if (self.oauthbearer is not None) != by_token:
            yield ("oauthbearer",), "is for OAUTHBEARER, which needs it: give both or none"
        if self.certificates and self.session_lifetime is not None:
            yield ("session_lifetime",), "is for SASL: a certificate counts as long as its connection"

    def problems(self, *, with_tls: bool, with_client_ca: bool) -> Iterator[tuple[Path, str]]:
        """Yield what is wrong beside the virtual cluster's other settings."""
        if self.certificates and not with_client_ca:
            yield ("certificates",), "needs `tls` with a `client_ca`: only its certificates are verified"
        readable = [one for one in self.mechanisms if one in _SECRETS]
        if readable and not with_tls and not self.dangerously_accept_secrets_without_tls:
            yield (
                ("mechanisms",),
                f"{' and '.join(readable)} can be read by everybody on the way: give the virtual cluster `tls`, leave "
                f"{'them' if len(readable) > 1 else 'it'} out, or set dangerously_accept_secrets_without_tls",
            )
