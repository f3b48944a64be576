"""The `kafka` receiver: a record for each push; key: the instance id, value: OTLP, headers: the client's attributes.

The receivers' factory makes it when kproxy starts. `Fanout` then runs its task, which writes queued pushes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from kproxy.delivery import kafka
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP
from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.subscription import ClientInfo, kafka_text
from kproxy.wire.records import Headers, Record

_MAX_CACHED: Final = 16_384
"""As many as there may be instances: key and headers are encoded once for all pushes of an instance."""


class Kafka(kafka.Kafka[Push]):
    """Writes the records of `records_with`. A push may rarely arrive twice, with the same instance id and timestamp."""

    content_types = frozenset({OTLP})


def records_with(constant: Mapping[str, str]) -> Callable[[Push], Record]:
    """Return what makes the record of a push, with the `constant` headers."""
    constants = [(key, value.encode()) for key, value in constant.items()]

    @lru_cache(_MAX_CACHED)
    def client(info: ClientInfo, terminating: bool) -> tuple[bytes, Headers]:
        who = known(info) if info.principal is None else [*known(info), ("principal", info.principal)]
        said = [(name, value.encode("utf-8", "replace")) for name, value in who]
        last = ("terminating", b"true" if terminating else b"false")
        headers = (("content-type", OTLP.encode()), *said, *constants, last)
        return kafka_text(info.client_instance_id).encode(), headers

    def record(push: Push) -> Record:
        key, headers = client(push.info, push.terminating)
        return Record(key, push.payload, round(push.received_at * 1000), headers)

    return record
