"""The `kafka` receiver: a record for each push; key the client's instance id, value OTLP, who pushed in the headers."""

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
"""As many as there may be instances: what is said of them is encoded once for all their pushes."""


class Kafka(kafka.Kafka[Push]):
    """A push may arrive more than once, rarely: the instance id and the timestamp tell. Records as `records_with`."""

    content_types = frozenset({OTLP})


def records_with(constant: Mapping[str, str]) -> Callable[[Push], Record]:
    """Records of pushes; `constant` headers stand on each."""
    constants = [(key, value.encode()) for key, value in constant.items()]

    @lru_cache(_MAX_CACHED)
    def client(info: ClientInfo, terminating: bool) -> tuple[bytes, Headers]:
        said = [(name, value.encode("utf-8", "replace")) for name, value in known(info)]
        last = ("terminating", b"true" if terminating else b"false")
        headers = (("content-type", OTLP.encode()), *said, *constants, last)
        return kafka_text(info.client_instance_id).encode(), headers

    def record(push: Push) -> Record:
        key, headers = client(push.info, push.terminating)
        return Record(key, push.payload, int(push.received_at * 1000), headers)

    return record
