"""Settings of the PROXY protocol: from which load balancers a client's own address is taken.

They are validated whenever a configuration is loaded: when kproxy starts, and at each reload.
"""

from __future__ import annotations

from ipaddress import IPv6Network, ip_network
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from kproxy.config.base import Settings, split_commas


def _network(text: str) -> str:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise ValueError(f"{error}; write for instance 10.0.0.0/8, or a single address") from error
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped is not None:
        raise ValueError(
            f"{text} is IPv4 mapped into IPv6; write for instance 10.0.0.0/8, which has such addresses, too"
        )
    return str(network)


Network = Annotated[str, AfterValidator(_network)]
Networks = Annotated[
    tuple[Network, ...], BeforeValidator(split_commas, json_schema_input_type=str | tuple[Network, ...])
]


class ProxyProtocol(Settings):
    """Load balancers that say whose connections they pass on (PROXY protocol, versions 1 and 2)."""

    networks: Networks = Field(
        default=(),
        description="Their addresses. Each connection from there must begin with a PROXY header, whose source address "
        "is the client's in limits, logs, events and telemetry; a header from elsewhere ends the connection. A list or "
        "one string with commas.",
        examples=[["10.0.0.0/8"]],
    )
