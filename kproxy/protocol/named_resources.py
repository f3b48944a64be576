# This module is pure (no I/O, no clock).
"""Which config resources a DescribeConfigs, AlterConfigs or IncrementalAlterConfigs request names, for any room.

Handlers of these requests call it; their policies have `NamedResources` as `request_walk`.
"""

from __future__ import annotations

from functools import partial
from struct import Struct
from typing import Final

from kproxy.protocol.context import Context
from kproxy.protocol.walked import walked
from kproxy.wire.config_resources import NamedResources

REQUEST_LIMIT: Final = 8 << 20
"""The most bytes of such a request: 100,000 topics with names of 80 characters. Kafka's own tools stay far below."""
_KEY_AND_VERSION: Final = Struct(">hh")


def named_resources(context: Context, frame: memoryview) -> NamedResources:
    """Return what the request names; raise `MalformedMessageError` for a frame that is no such request."""
    key_and_version: tuple[int, int] = _KEY_AND_VERSION.unpack_from(frame)
    return walked(context, frame, NamedResources, partial(NamedResources, *key_and_version))
