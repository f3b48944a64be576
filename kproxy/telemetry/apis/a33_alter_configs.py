# This module is pure.
"""AlterConfigs (33): the proxy alters subscriptions, the broker the rest (KIP-133, KIP-714).

Version notes: v2 is flexible. In all, configs of a resource that are not named go back to their default.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from kproxy.telemetry.apis import altering
from kproxy.telemetry.config_resource import alter
from kproxy.wire.generated.alter_configs_response import AlterConfigsResourceResponse, AlterConfigsResponse
from kproxy.wire.generated.api_keys import ApiKey

converse: Final = partial(
    altering.converse, altering.Api(ApiKey.ALTER_CONFIGS, AlterConfigsResponse, AlterConfigsResourceResponse, alter)
)
