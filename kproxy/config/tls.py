"""Settings of TLS, to clients, to brokers and at the admin port. Files are PEM; kproxy reads them when it starts.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. `kproxy.upstream.tls`
makes TLS contexts of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from kproxy.config.address import Host
from kproxy.config.base import ConsistentSettings, Path, split_commas

MinVersion: TypeAlias = Literal["TLSv1.2", "TLSv1.3"]


def _not_empty(path: str) -> str:
    if not path:
        raise ValueError("is empty: name a file")
    return path


def _not_blank(name: str) -> str:
    if not name.strip():
        raise ValueError("is empty: give a name of a certificate")
    return name


File = Annotated[str, AfterValidator(_not_empty)]
Names = Annotated[
    tuple[Annotated[str, AfterValidator(_not_blank)], ...],
    BeforeValidator(split_commas, json_schema_input_type=str | tuple[str, ...]),
]


class _OwnCertificate(ConsistentSettings):
    certificate: File | None = Field(default=None, description="File of kproxy's own certificate, with its chain.")
    key: File | None = Field(
        default=None, description="File of its private key; without it the certificate's file holds the key as well."
    )
    key_password_file: File | None = Field(default=None, description="File of the key's password, if it has one.")
    min_version: MinVersion = Field(default="TLSv1.2", description="The lowest version: TLSv1.2 or TLSv1.3.")

    @property
    def files(self) -> frozenset[str]:
        """The files that these settings name."""
        named = (self.certificate, self.key, self.key_password_file, self._authorities)
        return frozenset(file for file in named if file is not None)

    @property
    @abstractmethod
    def _authorities(self) -> str | None:
        """The file of the authorities whose certificates count."""

    def _problems(self) -> Iterator[tuple[Path, str]]:
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

    @property
    def _authorities(self) -> str | None:
        return self.client_ca


class AdminTls(ClientTls):
    """TLS of the admin port: plain HTTP is not served there any more."""

    client_ca: File | None = Field(
        default=None,
        description="File of the authorities of clients that may give commands: a certificate of theirs does what the "
        "token does. Pages and probes need none.",
    )
    client_names: Names = Field(
        default=(),
        description="Of these clients, those that may give commands: the common name, or a subject alternative name "
        "(DNS name, address, URI, e-mail), of their certificates. Without it all of them.",
        examples=[["kproxy-operators"]],
    )
    require_client_certificate: bool = Field(
        default=False,
        description="Whether pages and probes need a certificate of `client_ca`, too. The kubelet's HTTPS probes have "
        "none.",
    )

    def _problems(self) -> Iterator[tuple[Path, str]]:
        yield from super()._problems()
        for name in ("client_names", "require_client_certificate"):
            if getattr(self, name) and not self.client_ca:
                yield (name,), "needs a client_ca"


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

    @property
    def _authorities(self) -> str | None:
        return self.ca
