"""kproxy.config.faults: rules are checked where they are given, and each refusal says what to do."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kproxy.config.faults import API_KEYS, FaultRule, Faults


def test_a_rule() -> None:
    """Names of APIs in any case, times as people write them."""
    rule = FaultRule.model_validate({"api": "produce", "error": "NOT_LEADER_OR_FOLLOWER", "duration": "5m"})
    assert (rule.api, rule.api_key, rule.error_code, rule.fault, rule.duration) == ("Produce", 0, 6, "error", 300.0)
    assert (rule.rate, rule.count, rule.client_id, rule.software) == (1.0, None, None, None)


@pytest.mark.parametrize(
    ("fields", "fault", "code"),
    [
        ({"error": "UNKNOWN_SERVER_ERROR"}, "error", -1),
        ({"delay": "500ms"}, "delay", 0),
        ({"close": True}, "close", 0),
        ({"half": "NOT_LEADER_OR_FOLLOWER"}, "half", 6),
    ],
)
def test_faults(fields: dict[str, Any], fault: str, code: int) -> None:
    """Each kind, and the code that its answer carries."""
    rule = FaultRule.model_validate({"api": "Fetch"} | fields)
    assert (rule.fault, rule.error_code) == (fault, code)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"api": "ApiVersions", "close": True}, f"it does of {', '.join(API_KEYS)}"),
        (
            {"error": "NOT_LEADER"},
            "'NOT_LEADER' is no error of Kafka, but NOT_LEADER_OR_FOLLOWER is: see kproxy errors",
        ),
        ({"error": "NONE"}, "'NONE' is no error of Kafka"),
        ({"half": "zzz"}, "'zzz' is no error of Kafka: see kproxy errors list"),
        ({"close": True, "client_id": "("}, "is not a regex (RE2): missing )"),
        ({"close": True, "software": "(?=a)"}, "is not a regex (RE2)"),
        ({}, "names no fault: give one of error, delay, close and half"),
        ({"close": True, "delay": 1}, "names delay and close: give one of"),
        ({"delay": 0}, "greater than 0"),
        ({"delay": "2h"}, "less than or equal to 3600"),
        ({"close": True, "rate": 0}, "greater than 0"),
        ({"close": True, "rate": 1.5}, "less than or equal to 1"),
        ({"close": True, "count": 0}, "greater than or equal to 1"),
        ({"close": True, "duration": "soon"}, "'soon' is not a duration"),
        ({"close": True, "topic": "t"}, "Extra inputs are not permitted"),
    ],
)
def test_bad_rules(fields: dict[str, Any], words: str) -> None:
    """The reason says what is wrong, and where possible what is right."""
    with pytest.raises(ValidationError) as refused:
        FaultRule.model_validate({"api": "Produce"} | fields)
    assert words in str(refused.value)


def test_rules_that_would_do_nothing() -> None:
    """Rules without `enabled` are refused: nobody should wait for a fault that cannot come."""
    rule = {"api": "Produce", "close": True}
    with pytest.raises(ValidationError, match=r"would do nothing, since faults\.enabled is false"):
        Faults.model_validate({"rules": [rule]})
    assert len(Faults.model_validate({"enabled": True, "rules": [rule]}).rules) == 1


def test_off_by_default() -> None:
    """Nothing is injected unless it is asked for."""
    assert Faults() == Faults(enabled=False, rules=(), seed=None)
