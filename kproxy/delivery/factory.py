"""Makes file and topic destinations from their settings, for telemetry's receivers and for events.

Each function is called once for a destination, when kproxy starts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from kproxy.config import receivers
    from kproxy.config.delivery import ToTopic
    from kproxy.config.events import EventFiles, EventTopic
    from kproxy.delivery.files import Files, Lines
    from kproxy.delivery.kafka import Kafka
    from kproxy.upstream.client import UpstreamClient
    from kproxy.wire.records import Record

    F = TypeVar("F", bound=Files[Any])
    K = TypeVar("K", bound=Kafka[Any])

Connect = Callable[["ToTopic"], "UpstreamClient"]
"""Returns a client of the cluster that has the topic."""


def files(kind: type[F], settings: receivers.Files | EventFiles, prefix: str, lines: Lines[Any], max_items: int) -> F:
    """Return a file destination of a kind. File names begin with `prefix`; `lines` makes an item's lines.

    Raises ValueError for an unusable prefix.
    """
    return kind(
        settings.name,
        Path(settings.directory),
        prefix,
        lines,
        file_bytes=settings.file_bytes,
        file_age=settings.file_age,
        keep_bytes=settings.keep_bytes,
        linger=settings.linger,
        max_items=max_items,
        max_bytes=settings.max_bytes,
    )


def topic(
    kind: type[K],
    settings: receivers.Kafka | EventTopic,
    connect: Connect,
    record: Callable[[Any], Record],
    max_items: int,
) -> K:
    """Return a topic destination of a kind; `record` makes the record of an item."""
    from kproxy.delivery.batches import Compression  # noqa: PLC0415 (most starts need none)

    return kind(
        settings.name,
        partial(connect, settings),
        settings.topic,
        record,
        compression=Compression(settings.compression),
        retry_for=settings.retry_for,
        linger=settings.linger,
        max_items=max_items,
        max_bytes=settings.max_bytes,
    )
