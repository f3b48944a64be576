# This module is pure (no I/O, no clock).
"""What Kubernetes' API server says of a ConfigMap, and what it is asked to change there, as JSON.

`kproxy.agreement.config_map` gets and sends it.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

APPLY: Final = "application/apply-patch+yaml"
"""The content type of `empty_map`: server-side apply. JSON is YAML, too."""
MERGE: Final = "application/merge-patch+json"
"""The content type of `order_patch`."""
_LONGEST_LINE: Final = 4 << 20
_LABELS: Final = {"app.kubernetes.io/managed-by": "kproxy"}


class Stored(NamedTuple):
    """One version of the ConfigMap. `value` is that of one key, None where the key is not there."""

    version: str
    value: str | None


class Event(NamedTuple):
    """What a watch says. `stored` is None where the ConfigMap was deleted; `ended`: it must be read again."""

    stored: Stored | None
    ended: bool = False


class Lines:
    """Finds the lines in a stream of bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def add(self, data: bytes) -> list[bytes]:
        """Return the lines that are whole now; raise ValueError for one that is too long."""
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        if len(rest) > _LONGEST_LINE:
            raise ValueError(f"a line has more than {_LONGEST_LINE >> 20} MiB")
        return [bytes(line) for line in lines if line.strip()]


def parse_stored(body: bytes, key: str) -> Stored:
    """Return what the answer says of this key; raise ValueError for what is no ConfigMap."""
    return _stored(json.loads(body), key)


def parse_event(line: bytes, key: str) -> Event:
    """Return what a line of a watch says of this key; raise ValueError for what is no event of a ConfigMap."""
    match json.loads(line):
        case {"type": "ADDED" | "MODIFIED", "object": found}:
            return Event(_stored(found, key))
        case {"type": "DELETED"}:
            return Event(None)
        case {"type": "ERROR"}:
            return Event(None, ended=True)
    raise ValueError("no event of a watch")


def empty_map(name: str) -> bytes:
    """Return what is applied to create a ConfigMap; one that is there meanwhile keeps what it has."""
    metadata = {"name": name, "labels": _LABELS}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}).encode()


def order_patch(version: str, key: str, value: str) -> bytes:
    """Return what sets a key, as long as the ConfigMap has this version."""
    return json.dumps({"metadata": {"resourceVersion": version}, "data": {key: value}}).encode()


def refusal(status: int, body: bytes) -> str:
    """Return why the API server refused a request, in one line."""
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    match said:
        case {"kind": "Status", "message": str(message)} if message.strip():
            return " ".join(message.split())
    return f"the API server answered with status {status}"


def _stored(found: object, key: str) -> Stored:
    match found:
        case {"kind": "ConfigMap", "metadata": {"resourceVersion": str(version)}, **rest}:
            data = rest.get("data")
            value = data.get(key) if isinstance(data, dict) else None
            return Stored(version, value if isinstance(value, str) else None)
    raise ValueError("no ConfigMap")
