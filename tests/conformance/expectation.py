"""What KIP-1050 asks of a client, by class and API, and whether a finding is that. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kproxy.errors import ErrorClass
from tests.conformance.cases import LOOK_UPS, OF_GROUPS, Case
from tests.conformance.observation import Behaviour, Finding

_SURFACED: Final = frozenset({Behaviour.ABORTED, Behaviour.GOES_ON, Behaviour.FATAL, Behaviour.DEAD})
_QUIET: Final = frozenset({Behaviour.RETRIED, Behaviour.REFRESHED})
_BY_CLASS: Final[Mapping[ErrorClass, frozenset[Behaviour]]] = {
    ErrorClass.RETRIABLE: _QUIET,
    ErrorClass.REFRESH_RETRIABLE: frozenset({Behaviour.REFRESHED}),
    ErrorClass.ABORTABLE: frozenset({Behaviour.ABORTED}),
    ErrorClass.APPLICATION_RECOVERABLE: frozenset({Behaviour.FATAL}),
    ErrorClass.INVALID_CONFIGURATION: _SURFACED,
}
ASKS: Final[Mapping[ErrorClass, str]] = {
    ErrorClass.RETRIABLE: "retries, and the application sees nothing",
    ErrorClass.REFRESH_RETRIABLE: "asks for {}, retries, and the application sees nothing",
    ErrorClass.ABORTABLE: "surfaces it; the application aborts, and the same producer goes on",
    ErrorClass.APPLICATION_RECOVERABLE: "surfaces it; a new instance goes on",
    ErrorClass.INVALID_CONFIGURATION: "surfaces it, without a retry",
}
_OWN: Final[Mapping[Case, tuple[str, frozenset[Behaviour]]]] = {
    Case("JoinGroup", "UNKNOWN_MEMBER_ID"): ("joins again as a new member", _QUIET),
    Case("Fetch", "OFFSET_OUT_OF_RANGE"): ("resets its position by its own setting, here to the earliest", _QUIET),
    Case("OffsetCommit", "ILLEGAL_GENERATION"): (
        "surfaces it, since the partitions may be another member's; it joins again",
        frozenset({Behaviour.GOES_ON, Behaviour.FATAL}),
    ),
}
"""Errors that KIP-1050, which is about transactions, leaves to the group's protocol and the consumer's settings."""


def asked(case: Case) -> str:
    """Return what the client should do, in words."""
    if case in _OWN:
        return _OWN[case][0]
    if case.of_class is ErrorClass.REFRESH_RETRIABLE and case.api in LOOK_UPS:
        return "asks again, and the application sees nothing"
    if _without_transaction(case):
        return "surfaces it; the application aborts or initializes again, and the same producer goes on"
    if case.of_class is ErrorClass.APPLICATION_RECOVERABLE and case.api in LOOK_UPS:
        return "surfaces it"
    return ASKS[case.of_class].format(looked_up(case))


def looked_up(case: Case) -> str:
    """Return what a client looks up where the API's request went to the wrong broker, in words."""
    return "metadata" if case.look_up in (None, "Metadata") else "the coordinator"


def agrees(case: Case, found: Finding) -> bool | None:
    """Return whether the client did what is asked; None where it never sent the request."""
    if found.behaviour is Behaviour.NOT_SENT:
        return None
    if case.of_class is ErrorClass.INVALID_CONFIGURATION and case.api not in (*OF_GROUPS, *LOOK_UPS) and found.repeats:
        return False
    return found.behaviour in _allowed(case)


def _allowed(case: Case) -> frozenset[Behaviour]:
    if case in _OWN:
        return _OWN[case][1]
    if case.of_class is ErrorClass.REFRESH_RETRIABLE and case.api in LOOK_UPS:
        return _QUIET
    if _without_transaction(case):
        return frozenset({Behaviour.GOES_ON, Behaviour.ABORTED})
    if case.of_class is ErrorClass.APPLICATION_RECOVERABLE and case.api in LOOK_UPS:
        return _SURFACED
    return _BY_CLASS[case.of_class]


def _without_transaction(case: Case) -> bool:
    """Return whether an abortable error comes before the first transaction has begun."""
    return case.of_class is ErrorClass.ABORTABLE and case.api in ("InitProducerId", "FindCoordinator")
