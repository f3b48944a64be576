"""What KIP-1050 asks, by class and API."""

from __future__ import annotations

import pytest

from kproxy.errors import ErrorClass
from tests.conformance.cases import CASES, ERRORS, Case
from tests.conformance.expectation import agrees, asked
from tests.conformance.observation import Behaviour, Finding


@pytest.mark.parametrize(
    ("case", "behaviour", "expected"),
    [
        (Case("Produce", "NOT_ENOUGH_REPLICAS"), Behaviour.RETRIED, True),
        (Case("Produce", "NOT_ENOUGH_REPLICAS"), Behaviour.ABORTED, False),
        (Case("Produce", "NOT_LEADER_OR_FOLLOWER"), Behaviour.RETRIED, False),
        (Case("Produce", "NOT_LEADER_OR_FOLLOWER"), Behaviour.REFRESHED, True),
        (Case("Metadata", "LEADER_NOT_AVAILABLE"), Behaviour.RETRIED, True),
        (Case("EndTxn", "TRANSACTION_ABORTABLE"), Behaviour.ABORTED, True),
        (Case("EndTxn", "TRANSACTION_ABORTABLE"), Behaviour.FATAL, False),
        (Case("InitProducerId", "TRANSACTION_ABORTABLE"), Behaviour.GOES_ON, True),
        (Case("EndTxn", "PRODUCER_FENCED"), Behaviour.FATAL, True),
        (Case("EndTxn", "PRODUCER_FENCED"), Behaviour.ABORTED, False),
        (Case("OffsetCommit", "ILLEGAL_GENERATION"), Behaviour.GOES_ON, True),
        (Case("JoinGroup", "UNKNOWN_MEMBER_ID"), Behaviour.RETRIED, True),
        (Case("EndTxn", "PRODUCER_FENCED"), Behaviour.NOT_SENT, None),
    ],
)
def test_agrees(case: Case, behaviour: Behaviour, expected: bool | None) -> None:
    """A behaviour is what is asked, or it is not, or there is nothing to say."""
    assert agrees(case, Finding(behaviour, "E")) is expected


def test_what_somebody_must_change_is_not_tried_again() -> None:
    """An invalid configuration that is surfaced after a repeat differs; a fetch goes on all the same."""
    denied = Case("Produce", "TOPIC_AUTHORIZATION_FAILED")
    assert agrees(denied, Finding(Behaviour.ABORTED, "E"))
    assert agrees(denied, Finding(Behaviour.ABORTED, "E", repeats=1)) is False
    assert agrees(Case("Fetch", "TOPIC_AUTHORIZATION_FAILED"), Finding(Behaviour.GOES_ON, "E", repeats=1))


def test_every_api_has_every_class_that_it_can_have() -> None:
    """Each API of a transaction has one error of each class, and each case says what is asked."""
    classes = [one for one in ErrorClass if one not in (ErrorClass.REBOOTSTRAP, ErrorClass.IDEMPOTENCE)]
    for api in ("Produce", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "InitProducerId"):
        assert [Case(api, error).of_class for error in ERRORS[api]] == classes
    for case in CASES:
        assert asked(case)
