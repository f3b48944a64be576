"""The cells' rows: an error for each API and class, one that brokers give for this API where there is one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kproxy.errors import ErrorClass, classify
from kproxy.wire.generated.error_codes import ErrorCode

Work = Literal["transaction", "group"]
"""What the client does meanwhile: a producer's transaction, or a member of a classic group that reads and commits."""
ERRORS: Final[Mapping[str, tuple[str, ...]]] = {
    "Produce": (
        "NOT_ENOUGH_REPLICAS",
        "NOT_LEADER_OR_FOLLOWER",
        "TRANSACTION_ABORTABLE",
        "INVALID_PRODUCER_EPOCH",
        "TOPIC_AUTHORIZATION_FAILED",
    ),
    "AddPartitionsToTxn": (
        "CONCURRENT_TRANSACTIONS",
        "NOT_COORDINATOR",
        "TRANSACTION_ABORTABLE",
        "PRODUCER_FENCED",
        "TOPIC_AUTHORIZATION_FAILED",
    ),
    "AddOffsetsToTxn": (
        "CONCURRENT_TRANSACTIONS",
        "NOT_COORDINATOR",
        "TRANSACTION_ABORTABLE",
        "PRODUCER_FENCED",
        "GROUP_AUTHORIZATION_FAILED",
    ),
    "TxnOffsetCommit": (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "NOT_COORDINATOR",
        "TRANSACTION_ABORTABLE",
        "ILLEGAL_GENERATION",
        "GROUP_AUTHORIZATION_FAILED",
    ),
    "EndTxn": (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "NOT_COORDINATOR",
        "TRANSACTION_ABORTABLE",
        "PRODUCER_FENCED",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    ),
    "InitProducerId": (
        "CONCURRENT_TRANSACTIONS",
        "NOT_COORDINATOR",
        "TRANSACTION_ABORTABLE",
        "PRODUCER_FENCED",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    ),
    "FindCoordinator": (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "TRANSACTION_ABORTABLE",
        "INVALID_REQUEST",
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    ),
    "OffsetCommit": (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "NOT_COORDINATOR",
        "ILLEGAL_GENERATION",
        "GROUP_AUTHORIZATION_FAILED",
    ),
    "JoinGroup": (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "NOT_COORDINATOR",
        "UNKNOWN_MEMBER_ID",
        "GROUP_AUTHORIZATION_FAILED",
    ),
    "Fetch": (
        "UNKNOWN_LEADER_EPOCH",
        "NOT_LEADER_OR_FOLLOWER",
        "OFFSET_OUT_OF_RANGE",
        "TOPIC_AUTHORIZATION_FAILED",
    ),
    "Metadata": (
        "LEADER_NOT_AVAILABLE",
        "UNKNOWN_SERVER_ERROR",
        "TOPIC_AUTHORIZATION_FAILED",
    ),
}
"""By API, in the order of the classes. Brokers give no retriable error for Metadata, and no abortable one to groups."""
OF_GROUPS: Final = frozenset({"OffsetCommit", "JoinGroup", "Fetch"})
LOOK_UPS: Final = frozenset({"Metadata", "FindCoordinator"})
"""The APIs by which a client refreshes what it knows."""
BEFORE_KIP_890: Final = frozenset({"AddPartitionsToTxn", "AddOffsetsToTxn"})
"""The APIs that a client with `transaction.version` 2 does not send."""


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """One error of one API."""

    api: str
    error: str

    @property
    def name(self) -> str:
        """The client id of the client that gets it."""
        return f"{self.api}-{self.error}".lower().replace("_", "-")

    @property
    def of_class(self) -> ErrorClass:
        """The error's class."""
        found = classify(ErrorCode[self.error].value, self.api)
        assert found is not None
        return found

    @property
    def look_up(self) -> str | None:
        """The API by which a client refreshes what this one needs; None for a look-up itself."""
        if self.api in LOOK_UPS:
            return None
        return "Metadata" if self.api in ("Produce", "Fetch") else "FindCoordinator"

    @property
    def work(self) -> Work:
        """What the client does meanwhile."""
        return "group" if self.api in OF_GROUPS else "transaction"


CASES: Final = tuple(Case(api, error) for api, errors in ERRORS.items() for error in errors)
