# This module is pure.
"""IncrementalAlterConfigs (44): the proxy alters subscriptions, the broker the rest (KIP-339, KIP-714).

Version notes: v1 is flexible. Set, delete, append and subtract are in both.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from kproxy.telemetry.apis import altering
from kproxy.telemetry.config_resource import alter_incremental
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)

converse: Final = partial(
    altering.converse,
    altering.Api(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        IncrementalAlterConfigsResponse,
        AlterConfigsResourceResponse,
        alter_incremental,
    ),
)
