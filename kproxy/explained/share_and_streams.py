# This module is pure (no I/O, no clock).
"""Errors of share groups (KIP-932) and of Streams groups (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import AGAIN, NOT_A_CLIENTS, Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.INVALID_RECORD_STATE: Text(
            "The record cannot be acknowledged: its time was up, or it is somebody else's by now.",
            "Expect the record to be delivered again; take less time for each, or raise the lock's duration.",
            kip=932,
        ),
        ErrorCode.SHARE_SESSION_NOT_FOUND: Text(
            "The broker does not know the share session of this member.",
            AGAIN,
            kip=932,
        ),
        ErrorCode.INVALID_SHARE_SESSION_EPOCH: Text(
            "The member and the broker do not agree on which request of their share session this is.",
            AGAIN,
            kip=932,
        ),
        ErrorCode.FENCED_STATE_EPOCH: Text(
            "A share partition's leader has an older epoch of its state than the share coordinator.",
            NOT_A_CLIENTS,
            kip=932,
        ),
        ErrorCode.SHARE_SESSION_LIMIT_REACHED: Text(
            "The broker has as many share sessions as it may have.",
            "If it lasts, run fewer members, or raise the brokers' limit.",
            kip=932,
        ),
        ErrorCode.STREAMS_INVALID_TOPOLOGY: Text(
            "The coordinator cannot make tasks of the Streams application's topology.",
            "Read the error message, and correct the application.",
            kip=1071,
        ),
        ErrorCode.STREAMS_INVALID_TOPOLOGY_EPOCH: Text(
            "The member names a later version of the topology than its group has.",
            "Run one version of the Streams application in the group.",
            kip=1071,
        ),
        ErrorCode.STREAMS_TOPOLOGY_FENCED: Text(
            "The member has an older version of the topology than its group.",
            "Run one version of the Streams application in the group.",
            kip=1071,
        ),
        ErrorCode.STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED: Text(
            "The brokers' plug-in could not store the description of a Streams topology.",
            "Read the error message, and the log of the plug-in at the broker.",
            kip=1331,
        ),
    }
)
