"""The settings by which kproxy checks clients' tokens (OAUTHBEARER): whose they are, for whom, and by which keys.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kproxy.config.base import ConsistentSettings, Path, split_commas
from kproxy.config.secret import Line
from kproxy.config.tls import File
from kproxy.config.units import seconds
from kproxy.config.url import Url, checked_endpoint, parse_endpoint

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
"""Signatures by a key pair. `none` and HS* can never be allowed: whoever checks such a token can make one."""
Lines = Annotated[tuple[Line, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[str, ...])]


class OAuthBearer(ConsistentSettings):
    """Which tokens of clients are accepted: JWTs (RFC 7519) of one issuer, signed with one of its keys."""

    issuer: Line = Field(
        description="Who must have issued a token: its claim `iss`, exactly.", examples=["https://login.example.com/"]
    )
    audience: Lines = Field(
        min_length=1,
        description="For whom a token must be: its claim `aud` has one of these. A list or one string with commas.",
        examples=["kafka"],
    )
    jwks_url: Annotated[str, BeforeValidator(checked_endpoint, json_schema_input_type=str)] | None = Field(
        default=None,
        description="The URL of the issuer's keys (a JWK set, RFC 7517). https; http only at this machine.",
    )
    jwks_file: File | None = Field(default=None, description="A file with the issuer's keys, instead of `jwks_url`.")
    jwks_refresh: Annotated[float, seconds(ge=10)] = Field(
        default=300.0,
        description="How often the keys are read again; and at once for a token of an unknown key, once in 10 s at "
        "most. Seconds, or as 5m.",
    )
    ca: File | None = Field(
        default=None,
        description="File of the certificate authorities to trust for `jwks_url`; without it those of the system.",
    )
    principal_claim: Line = Field(default="sub", description="The claim that names the user.")
    required_scopes: Lines = Field(
        default=(), description="Scopes that a token must have, in `scope` or `scp`. A list or one string with commas."
    )
    required_claims: Mapping[Line, Line] = Field(
        default={},
        description="Claims that a token must have: the value, or a list with it. As a variable: YAML.",
    )
    clock_skew: Annotated[float, seconds(ge=0, le=600)] = Field(
        default=30.0, description="How far the issuer's clock may be from kproxy's. Seconds, or as 30s."
    )
    algorithms: Annotated[tuple[Algorithm, ...], BeforeValidator(split_commas)] = Field(
        default=("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"),
        min_length=1,
        description="The signatures that are accepted. A list or one string with commas.",
    )
    dangerously_accept_plaintext: bool = Field(
        default=False,
        description="Whether `jwks_url` of another machine may be http: whoever is on the way can make tokens of "
        "anybody.",
    )

    @property
    def endpoint(self) -> Url | None:
        """Where the keys are; None when they are in a file."""
        return None if self.jwks_url is None else parse_endpoint(self.jwks_url)

    def _problems(self) -> Iterator[tuple[Path, str]]:
        url = self.endpoint
        if url is None and self.jwks_file is None:
            yield ("jwks_url",), "is required, or a `jwks_file`"
        if url is not None and self.jwks_file is not None:
            yield ("jwks_file",), "stands beside jwks_url: give one of both"
        if self.ca is not None and (url is None or not url.secure):
            yield ("ca",), "is for a jwks_url of https"
        if url is not None and url.is_readable and not self.dangerously_accept_plaintext:
            hint = "use https, or set dangerously_accept_plaintext: true where nobody is on the way"
            yield ("jwks_url",), f"would take keys that anybody on the way can replace; {hint}"
