"""Settings of TLS, to clients and to brokers. Files are PEM; a file's content is looked at when kproxy starts.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. `kproxy.upstream.tls`
makes TLS contexts of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from kproxy.config.address import Host
from kproxy.config.base import Path, Settings, refuse

MinVersion: TypeAlias = Literal["TLSv1.2", "TLSv1.3"]


def _not_empty(path: str) -> str:
    if not path:
        raise ValueError("is empty: name a file")
    return path


File = Annotated[str, AfterValidator(_not_empty)]


class _OwnCertificate(Settings):
    certificate: File | None = Field(default=None, description="File of kproxy's own certificate, with its chain.")
    key: File | None = Field(
        default=None, description="File of its private key; without it the certificate's file holds the key as well."
    )
    key_password_file: File | None = Field(default=None, description="File of the key's password, if it has one.")
    min_version: MinVersion = Field(default="TLSv1.2", description="The lowest version: TLSv1.2 or TLSv1.3.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := [*self._lacking()]:
            refuse(found)
        return self

    def _lacking(self) -> Iterator[tuple[Path, str]]:
        for name in ("key", "key_password_file"):
            if getattr(self, name) and not self.certificate:
                yield (name,), "needs a certificate"


class ClientTls(_OwnCertificate):
    """TLS to clients: kproxy is the server, and every port of the virtual cluster speaks TLS."""

    certificate: File = Field(description="File of kproxy's certificate, with its chain.")
    client_ca: File | None = Field(
        default=None,
        description="File of the authorities whose certificates clients must have (mTLS); without it they need none.",
    )


class UpstreamTls(_OwnCertificate):
    """TLS to brokers: kproxy is the client. `{}` trusts the system's authorities."""

    ca: File | None = Field(
        default=None, description="File of the certificate authorities to trust; without it those of the system."
    )
    server_name: Host | None = Field(
        default=None,
        description="The name that every broker's certificate must have, and that it is asked for (SNI). By default "
        "the host that is connected to.",
    )
    dangerously_accept_any_host_name: bool = Field(
        default=False,
        description="Whether a certificate of a trusted authority is enough, whatever host it is for: whoever has one "
        "can pose as a broker.",
    )
    dangerously_accept_any_certificate: bool = Field(
        default=False,
        description="Whether any certificate will do: whoever is on the way can read and change everything.",
    )
