# This module is pure (no I/O, no clock).
"""Why each error that kproxy itself answers is of a class that fits its situation (KIP-1050).

`reference` writes it into docs/errors.md, beside when kproxy answers it (`Text.kproxy`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.wire.generated.error_codes import ErrorCode

_SETTING: Final = "Somebody must change"
_ANEW: Final = "The same request would be refused again, and the member can go on"

WHY: Final[Mapping[ErrorCode, str]] = MappingProxyType(
    {
        ErrorCode.UNKNOWN_SERVER_ERROR: "Nobody knows whether a second attempt would end otherwise.",
        ErrorCode.LEADER_NOT_AVAILABLE: "The client asks again at its bootstrap servers, and gets leaders there.",
        ErrorCode.NETWORK_EXCEPTION: "The tool can ask again, and a broker may answer then.",
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "kproxy stays the coordinator, and is ready in a moment.",
        ErrorCode.COORDINATOR_NOT_AVAILABLE: (
            "The state can be written again once the broker is back, perhaps through another kproxy."
        ),
        ErrorCode.NOT_COORDINATOR: "There is another coordinator, and FindCoordinator names it.",
        ErrorCode.ILLEGAL_GENERATION: (
            "Such a commit must never be repeated: other members have the partitions. The member joins again."
        ),
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL: f"{_ANEW} only with other assignors, which is up to the application.",
        ErrorCode.INVALID_GROUP_ID: "No retry gives the group an id; the KIP does not name the code.",
        ErrorCode.UNKNOWN_MEMBER_ID: f"{_ANEW} when it joins as a new one.",
        ErrorCode.INVALID_SESSION_TIMEOUT: "No retry changes the timeout; the KIP does not name the code.",
        ErrorCode.REBALANCE_IN_PROGRESS: f"{_ANEW} when it has joined the new generation.",
        ErrorCode.GROUP_AUTHORIZATION_FAILED: f"{_SETTING} the principal or its rights.",
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED: f"{_SETTING} the principal, or the list of those who may.",
        ErrorCode.UNSUPPORTED_SASL_MECHANISM: f"{_SETTING} the client's mechanism, or those that are offered.",
        ErrorCode.UNSUPPORTED_VERSION: (
            f"{_SETTING} the client or the broker; a client that asks for versions uses one that fits."
        ),
        ErrorCode.INVALID_CONFIG: f"{_SETTING} the value that was given.",
        ErrorCode.INVALID_REQUEST: (
            "The request itself is wrong, so a second one would be too; the KIP does not name the code."
        ),
        ErrorCode.POLICY_VIOLATION: (
            "A retry meets the same limit, until something is deleted; the KIP does not name the code."
        ),
        ErrorCode.KAFKA_STORAGE_ERROR: (
            "The same change again may be kept: the disk, or the broker, may be well by then."
        ),
        ErrorCode.SASL_AUTHENTICATION_FAILED: f"{_SETTING} the credentials: others would be guesses.",
        ErrorCode.NON_EMPTY_GROUP: "It is up to who asks: the group's members must leave first.",
        ErrorCode.GROUP_ID_NOT_FOUND: "It is up to who asks: a group is there once a member joins it.",
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE: (
            "The client asks for its subscription anew, which names what may be used."
        ),
        ErrorCode.MEMBER_ID_REQUIRED: f"{_ANEW} with the id that comes with the code.",
        ErrorCode.GROUP_MAX_SIZE_REACHED: (
            "A retry meets the same limit, until a member leaves; the KIP does not name the code."
        ),
        ErrorCode.FENCED_INSTANCE_ID: (
            "Another member has the instance's id: this client must end, or it would take it back."
        ),
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: "It is up to who asks: the group's members must leave the topic first.",
        ErrorCode.INVALID_RECORD: f"{_SETTING} the client's library: what it pushes is wrong.",
        ErrorCode.THROTTLING_QUOTA_EXCEEDED: "The same push is welcome later, and the answer says when.",
        ErrorCode.UNKNOWN_SUBSCRIPTION_ID: "The client asks for its subscription anew, and pushes by that.",
        ErrorCode.TELEMETRY_TOO_LARGE: "The same push would be too large again; the client drops it and goes on.",
        ErrorCode.REBOOTSTRAP_REQUIRED: (
            "The client's brokers are of a cluster that is gone: only its bootstrap servers lead on."
        ),
    }
)
"""A sentence for each code that has a text on when kproxy answers it."""
