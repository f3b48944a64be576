"""The settings of the client credentials grant (RFC 6749, 4.4), by which kproxy gets tokens for itself.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from kproxy.config.base import ConsistentSettings, Path
from kproxy.config.secret import Line, Password
from kproxy.config.tls import File
from kproxy.config.url import Url, checked_endpoint, parse_endpoint

PLAINTEXT: Final = "dangerously_accept_plaintext"


def _endpoint(value: Any) -> Any:
    text = checked_endpoint(value)
    if "?" in text:
        raise ValueError("must have no query; `scope` and `audience` go into the request's body")
    return text


Endpoint = Annotated[str, BeforeValidator(_endpoint, json_schema_input_type=str)]


class ClientCredentials(ConsistentSettings):
    """How kproxy gets its own tokens: by the client credentials grant of OAuth 2.0, and again before each one ends."""

    token_endpoint: Endpoint = Field(
        description="The URL of the authorization server's token endpoint. https; http only at this machine.",
        examples=["https://login.example.com/oauth2/token"],
    )
    client_id: Line = Field(description="kproxy's client id at the authorization server.")
    client_secret: Password | None = Field(default=None, description="Its secret; it is never shown or logged.")
    client_secret_file: Line | None = Field(
        default=None,
        description="A file with the secret, instead of `client_secret`. It is read for each token. One line end at "
        "its end is no part of it.",
    )
    client_authentication: Literal["client_secret_basic", "client_secret_post"] = Field(
        default="client_secret_basic",
        description="How id and secret are sent: client_secret_basic in a header, each form-encoded as RFC 6749 says, "
        "or client_secret_post in the body.",
    )
    scope: Line | None = Field(
        default=None, description="The scopes to ask for, with blanks between them; without it the server's default."
    )
    audience: Line | None = Field(
        default=None, description="The audience to ask for, where the authorization server wants it named."
    )
    ca: File | None = Field(
        default=None,
        description="File of the certificate authorities to trust for the token endpoint; without it those of the "
        "system. It is read for each token.",
    )
    dangerously_accept_plaintext: bool = Field(
        default=False,
        description="Whether the token endpoint of another machine may be http: whoever is on the way can read the "
        "client's secret and the token.",
    )

    @property
    def endpoint(self) -> Url:
        """The token endpoint."""
        return parse_endpoint(self.token_endpoint)

    def _problems(self) -> Iterator[tuple[Path, str]]:
        if self.client_secret is None and self.client_secret_file is None:
            yield ("client_secret",), "is required, here or in a `client_secret_file`"
        if self.client_secret is not None and self.client_secret_file is not None:
            yield ("client_secret_file",), "stands beside client_secret: give one of both"
        if self.ca is not None and not self.endpoint.secure:
            yield ("ca",), "is for a token endpoint of https"
        if self.endpoint.is_readable and not self.dangerously_accept_plaintext:
            hint = f"use https, or set {PLAINTEXT}: true where nobody is on the way"
            yield ("token_endpoint",), f"would send the client's secret readable to another machine; {hint}"
