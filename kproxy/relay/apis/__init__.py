"""What the relay itself does with APIs: a module for each, named by its key and headed by its behaviour."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.relay.apis import (
    a00_produce,
    a01_fetch,
    a03_metadata,
    a10_find_coordinator,
    a17_sasl_handshake,
    a18_api_versions,
    a55_describe_quorum,
    a60_describe_cluster,
    a78_share_fetch,
    a79_share_acknowledge,
)
from kproxy.relay.routes import Offer

OFFERS: Final[Mapping[int, Offer]] = MappingProxyType(
    {
        module.KEY: module.OFFER
        for module in (
            a00_produce,
            a01_fetch,
            a03_metadata,
            a10_find_coordinator,
            a17_sasl_handshake,
            a18_api_versions,
            a55_describe_quorum,
            a60_describe_cluster,
            a78_share_fetch,
            a79_share_acknowledge,
        )
    }
)
"""The relay's own offers by api key; other rooms' offers join them in the composition root."""
