# This module is pure.
"""What the relay itself does with APIs: a module for each, named by its key and headed by its behaviour."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.observe.counters import ClusterCounters
from kproxy.protocol.api_table import ApiPolicy, ApiTable
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

POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {
        **coordinators.POLICIES,
        **{
            module.KEY: module.POLICY
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
RETIRED_POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {**POLICIES, a03_metadata.KEY: a03_metadata.RETIRED}
)
RETIRED_KEYS: Final = frozenset(
    api.KEY for api in (a03_metadata, a17_sasl_handshake, a18_api_versions, a36_sasl_authenticate)
)
"""What a client needs to ask until it hears that the node it came to is gone."""


def retired_table(counters: ClusterCounters) -> ApiTable:
    """The table of listeners whose node is gone: all but the way to being told ends the connection."""
    return ApiTable(counters, RETIRED_POLICIES, only=RETIRED_KEYS)
