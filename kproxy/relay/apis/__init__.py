# This module is pure (no I/O, no clock).
"""The policies by which the relay itself takes part in Kafka's APIs: addresses, common versions, the principal."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.protocol.api_table import ApiPolicy
from kproxy.relay.apis import address_policies, altered_configs, api_versions, configs, sasl
from kproxy.wire.generated.api_keys import ApiKey

POLICIES: Final[Mapping[int, ApiPolicy]] = MappingProxyType(
    {
        **address_policies.POLICIES,
        **configs.POLICIES,
        **altered_configs.POLICIES,
        **sasl.POLICIES,
        ApiKey.API_VERSIONS: api_versions.POLICY,
    }
)
"""By api key."""
RETIRED_KEYS: Final = frozenset((ApiKey.METADATA, ApiKey.API_VERSIONS, *sasl.POLICIES))
"""What a client needs to ask until it learns that the node it came to is gone."""
