# This module is pure (no I/O, no clock).
"""What is kept of a hosted group, so that a restart goes on from there."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from kproxy.coordinator.messages import Protocols

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """A member; timeouts are in seconds, protocols as in `Member`."""

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout: float
    rebalance_timeout: float
    protocols: Protocols
    assignment: bytes = b""


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A generation of a group, before its leader has assigned (`assigned` false) or after that."""

    id: str
    generation: int
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str | None = None
    assigned: bool = False
    members: tuple[MemberRecord, ...] = ()


def encode(record: GroupRecord) -> bytes:
    """Return a record as JSON, with bytes in base64."""
    members = [
        {
            **asdict(one),
            "protocols": [[name, _text(data)] for name, data in one.protocols],
            "assignment": _text(one.assignment),
        }
        for one in record.members
    ]
    return json.dumps({"version": VERSION, **asdict(replace(record, members=())), "members": members}).encode()


def decode(group_id: str, value: bytes) -> GroupRecord:
    """Return the record of JSON; raises ValueError, KeyError or TypeError for what is none."""
    said: dict[str, Any] = json.loads(value)
    if said.pop("version") != VERSION or said["id"] != group_id:
        raise ValueError(f"is of another version than {VERSION}, or of another group")
    members = (
        MemberRecord(
            **{
                **one,
                "protocols": tuple((name, b64decode(data)) for name, data in one["protocols"]),
                "assignment": b64decode(one["assignment"]),
            }
        )
        for one in said["members"]
    )
    return GroupRecord(**{**said, "members": tuple(members)})


def _text(data: bytes) -> str:
    return b64encode(data).decode()
