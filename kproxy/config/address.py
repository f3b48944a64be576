"""Host and port as Kafka writes them: `host:port`, `[::1]:9092`.

The settings models parse addresses with it whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
Other packages only format addresses with `join_host_port`.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, model_serializer, model_validator

from kproxy.config.base import Settings, also_written_as
from kproxy.config.units import whole

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

MAX_PORT: Final = 65535
_MAX_HOST: Final = 253
# DNS has no underscores, but Docker Compose and Windows give out such names.
_LABEL: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_DIGITS: Final = re.compile(r"[0-9]{1,5}")
# What others write between servers: no host has it.
_SEPARATORS: Final = re.compile(r"[;|\s]+")
_PATTERN: Final = r"^\s*(\[[0-9A-Za-z:.%]+\]|[^\s:/,\[\]]+):[0-9]{1,5}\s*$"
_EXAMPLE: Final = "write host:port, for instance broker-1:9092 or [::1]:9092"


def is_ip_literal(host: str) -> bool:
    """Return True when `host` is an IPv4 or IPv6 address (with or without a zone), not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_wildcard(host: str) -> bool:
    """Return True when `host` means every address of the machine: 0.0.0.0 or ::."""
    return is_ip_literal(host) and ipaddress.ip_address(host).is_unspecified


def check_host(host: str) -> str:
    """Return the host unchanged when it is an IP address or a host name; otherwise ValueError says what is wrong."""
    if not host:
        raise ValueError(f"the host is missing; {_EXAMPLE}")
    if is_ip_literal(host):
        return host
    if ":" in host:
        raise ValueError(f"{host!r} is not an IPv6 address; {_EXAMPLE}")
    if not host.isascii():
        raise ValueError(f"{host!r} is not ASCII; write an international name in its xn-- form")
    name = host.removesuffix(".")
    if len(name) > _MAX_HOST or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise ValueError(f"{host!r} is neither a host name nor an IP address")
    if _DIGITS.fullmatch(name.rpartition(".")[2]):
        raise ValueError(f"{host!r} is not an IPv4 address")
    return host


def join_host_port(host: str, port: int | str) -> str:
    """Return `host:port`, with an IPv6 address in brackets; `port` may be words."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_host_port(text: str) -> tuple[str, int]:
    """Return host and port of `h:p` or `[v6]:p`; ValueError says what is wrong and what to write."""
    text = text.strip()
    if "://" in text:
        raise ValueError(f"{text!r} has a scheme; {_EXAMPLE}")
    several = _SEPARATORS.split(text)
    if len(several) > 1 and all(":" in each for each in several):
        raise ValueError(f"{text!r} is not one address; separate several by commas: {','.join(several)}")
    host, colon, port = text.rpartition(":")
    if not colon:
        raise ValueError(f"{text!r} lacks a host or a port; {_EXAMPLE}")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        if not is_ip_literal(host) or ":" not in host:
            raise ValueError(f"{host!r} in brackets is not an IPv6 address; {_EXAMPLE}")
    elif ":" in host:
        raise ValueError(f"{text!r}: an IPv6 address needs brackets; {_EXAMPLE}")
    if not _DIGITS.fullmatch(port) or int(port) > MAX_PORT:
        raise ValueError(f"{port!r} is not a port (0 to {MAX_PORT})")
    return check_host(host), int(port)


def _check_alone(text: str) -> str:
    """As `check_host`, for a setting that takes no port; ValueError says what is more than the host, and what it is."""
    _, scheme, rest = text.rpartition("://")
    if scheme:
        raise ValueError(f"{text!r} has a scheme; write the host alone{_suggested(rest)}")
    if is_ip_literal(text):
        return text
    host, colon, port = text.rpartition(":")
    if colon and _DIGITS.fullmatch(port) and (":" not in host or host.endswith("]")):
        raise ValueError(f"{text!r} has a port; write the host alone{_suggested(text)}")
    if text.startswith("[") and text.endswith("]"):
        raise ValueError(f"{text!r} has brackets; write an IPv6 address without them{_suggested(text)}")
    return check_host(text)


def _suggested(text: str) -> str:
    """Return words that tell the host in `host`, `host:port`, `[v6]` or `[v6]:port`, where it is one."""
    host = text.rpartition(":")[0] if _DIGITS.fullmatch(text.rpartition(":")[2]) else text
    try:
        return f": {check_host(host.strip('[]'))}"
    except ValueError:
        return ""


Host = Annotated[str, AfterValidator(_check_alone)]


class HostPort(Settings):
    """An address; in YAML and the environment a string `host:port`. Port 0 means: any free port (listeners only)."""

    host: Host = Field(description="Host name, IPv4 address, or IPv6 address without brackets.")
    port: Annotated[int, whole(0, MAX_PORT)] = Field(description="TCP port.")

    @classmethod
    def parse(cls, text: str) -> HostPort:
        """Return the address of `h:p` or `[v6]:p`; ValueError (or pydantic's ValidationError) says what is wrong."""
        host, port = split_host_port(text)
        return cls(host=host, port=port)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            host, port = split_host_port(value)
            return {"host": host, "port": port}
        if isinstance(value, dict | HostPort):
            return value
        raise ValueError(f"{'nothing' if value is None else value} is not an address; {_EXAMPLE}")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        text = {"type": "string", "pattern": _PATTERN, "examples": ["broker-1:9092", "[::1]:9092"]}
        return also_written_as(handler(core_schema), handler, text)

    @model_serializer
    def _to_text(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return join_host_port(self.host, self.port)


def is_loopback(host: str) -> bool:
    """Return True when a connection to `host` does not leave the machine, as far as its name says."""
    if is_ip_literal(host):
        return ipaddress.ip_address(host).is_loopback
    return host.removesuffix(".").lower() == "localhost"
