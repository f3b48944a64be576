"""Measure requests beside a fleet that comes back all at once: kproxy sees each instance's push for the first time."""

from __future__ import annotations

from contextlib import closing
from typing import Final

from . import small
from .apart import apart
from .frames import OneRecordProduce, connect
from .growth import Pool
from .pushed import Proxy

_WARM_UP: Final = 3.0
_SECONDS: Final = 1.0


def p99(relay: Proxy, topic: str, request: OneRecordProduce, instances: int) -> float:
    """Return the p99 in seconds while each instance pushes once; raises BenchError where a push was not delivered."""
    relay.join(instances)
    with closing(connect(relay.leader(topic))) as connection:
        small.requests_during(connection, request, _WARM_UP)
        with apart(relay.pid), relay.pushing(_SECONDS, _SECONDS):
            samples = small.requests_during(connection, request, _SECONDS)
    return Pool([samples]).p99([1])
