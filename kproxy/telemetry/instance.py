# This module is pure.
"""A client instance: one client object in one process, known by the id that telemetry gave it (KIP-714)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Final, NamedTuple
from uuid import UUID

from kproxy.wire.primitives import ZERO_UUID

RESERVED_IDS: Final = frozenset({ZERO_UUID, UUID(int=1)})
"""Kafka's own: no instance has them."""
MAX_TEXT: Final = 256
"""Characters of a client id, or of a software's name or version, that are kept: the wire allows 32,767."""


class ClientInfo(NamedTuple):
    """Who asks or pushes: what the connection and its request header tell."""

    client_instance_id: UUID
    client_id: str | None
    software_name: str | None
    software_version: str | None
    source_address: str
    source_port: int

    def bounded(self) -> ClientInfo:
        """The same, fit to be kept by the thousand: longer texts are cut, for matching too, so that it is stable."""
        _, client_id, name, version, _, _ = self
        if len(client_id or "") <= MAX_TEXT and len(name or "") <= MAX_TEXT and len(version or "") <= MAX_TEXT:
            return self
        client_id, name, version = (text and text[:MAX_TEXT] for text in (client_id, name, version))
        return self._replace(client_id=client_id, software_name=name, software_version=version)


def kafka_text(instance_id: UUID) -> str:
    """The id as Kafka's clients and tools print it: base64url without padding."""
    return urlsafe_b64encode(instance_id.bytes).decode("ascii").rstrip("=")
