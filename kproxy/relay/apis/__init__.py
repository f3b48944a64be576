"""What the relay itself does with APIs: a module for each, named by its key and headed by its behaviour."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.observe.counters import ClusterCounters
from kproxy.protocol.api_table import Offer, Table
from kproxy.rebootstrap import coordinators
from kproxy.relay.apis import (
    a00_produce,
    a01_fetch,
    a03_metadata,
    a10_find_coordinator,
    a17_sasl_handshake,
    a18_api_versions,
    a36_sasl_authenticate,
    a55_describe_quorum,
    a60_describe_cluster,
    a78_share_fetch,
    a79_share_acknowledge,
)

OFFERS: Final[Mapping[int, Offer]] = MappingProxyType(
    {
        **coordinators.OFFERS,
        **{
            module.KEY: module.OFFER
            for module in (
                a00_produce,
                a01_fetch,
                a03_metadata,
                a10_find_coordinator,
                a17_sasl_handshake,
                a18_api_versions,
                a36_sasl_authenticate,
                a55_describe_quorum,
                a60_describe_cluster,
                a78_share_fetch,
                a79_share_acknowledge,
            )
        },
    }
)
"""The relay's own offers by api key; other rooms' offers join them in the composition root."""
RETIRED_OFFERS: Final[Mapping[int, Offer]] = MappingProxyType({**OFFERS, a03_metadata.KEY: a03_metadata.RETIRED})
RETIRED_KEYS: Final = frozenset(
    api.KEY for api in (a03_metadata, a17_sasl_handshake, a18_api_versions, a36_sasl_authenticate)
)
"""What a client needs to ask until it hears that the node it came to is gone."""


def retired_table(counters: ClusterCounters) -> Table:
    """The table of listeners whose node is gone: all but the way to being told ends the connection."""
    return Table(counters, RETIRED_OFFERS, only=RETIRED_KEYS)
