"""/api/v1/clusters/{cluster}/faults: rules are shown, added, refused with reasons, and removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import Reply, fetch
from tests.unit.admin.test_telemetry import JSON, send

FAULTS = "/api/v1/clusters/main/faults"


async def added(port: int, fields: Mapping[str, Any], path: str = FAULTS) -> Reply:
    """The answer to a rule that is added."""
    return await send(port, "POST", path, json.dumps(fields), JSON)


async def test_rules(port: int) -> None:
    """All that is known of each."""
    assert (await fetch(port, FAULTS)).json() == {
        "faults": [
            {
                "id": 1,
                "api": "Fetch",
                "client_id": "slow-.*",
                "software": None,
                "error": None,
                "delay": 2.0,
                "close": False,
                "half": None,
                "rate": 0.5,
                "count": None,
                "hits": 0,
                "seconds": None,
                "fixed": True,
            }
        ]
    }


async def test_add(view: MemoryView, port: int) -> None:
    """The answer is the rule; whole numbers are numbers, too; and the command is reported like all others."""
    fields = {"api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER", "rate": 1, "duration": 300, "count": 7}
    rule = (await added(port, fields)).json()
    assert (rule["id"], rule["error"], rule["rate"], rule["count"]) == (2, "NOT_LEADER_OR_FOLLOWER", 1.0, 7)
    assert 299 < rule["seconds"] <= 300
    assert [rule["id"] for rule in (await fetch(port, FAULTS)).json()["faults"]] == [1, 2]
    assert [(name, event.command, event.status) for name, event in view.reported] == [("main", f"POST {FAULTS}", 200)]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"api": "Produce", "error": "NOT_LEADER"}, "error: 'NOT_LEADER' is no error of Kafka, but NOT_LEADER_OR_FO"),
        ({"api": "Sasl", "close": True}, "api: 'Sasl': kproxy makes no answers of this API; it does of Produce, Fetch"),
        ({"close": True}, "api: is required"),
        ({"api": "Fetch"}, "names no fault: give one of error, delay, close and half"),
        ({"api": "Fetch", "close": True, "client_id": "("}, "client_id: '(' is not a regex (RE2): missing ): ("),
        ({"api": "Fetch", "close": True, "rate": 2}, "rate: must be at most 1, not 2"),
        ({"api": "Fetch", "delay": -1, "count": 0}, "delay: must be more than 0, not -1; count: must be at least 1"),
        ({"api": "Fetch", "close": "yes"}, "close: true or false expected"),
        ({"api": "Fetch", "close": True, "rate": True}, "rate: a number expected"),
        ({"api": "Fetch", "topic": "t"}, "'topic' is no field of this request; there are: api, client_id"),
    ],
)
async def test_bad_rules(port: int, fields: dict[str, Any], words: str) -> None:
    """400, with all that is wrong."""
    answer = await added(port, fields)
    assert answer.status == 400
    assert answer.json()["error"].startswith(words)


async def test_remove(port: int) -> None:
    """One, or all that the configuration does not have."""
    for _ in range(3):
        await added(port, {"api": "Fetch", "close": True})
    assert (await send(port, "DELETE", f"{FAULTS}/3")).json() == {"cluster": "main", "removed": 1}
    assert (await send(port, "DELETE", FAULTS)).json() == {"cluster": "main", "removed": 2}
    assert [rule["id"] for rule in (await fetch(port, FAULTS)).json()["faults"]] == [1]


async def test_one_rule(view: MemoryView, port: int) -> None:
    """It is shown with its hits, also when it is over and the listing has it no more."""
    await added(port, {"api": "Produce", "close": True, "count": 1})
    hit = next(rule for rule, _ in view.injection.rules() if rule.number == 2)
    hit.hits = 1
    assert [rule["id"] for rule in (await fetch(port, FAULTS)).json()["faults"]] == [1]
    shown = (await fetch(port, f"{FAULTS}/2")).json()
    assert (shown["id"], shown["hits"], shown["count"]) == (2, 1, 1)
    assert (await fetch(port, f"{FAULTS}/3")).status == 404
    assert (await fetch(port, f"{FAULTS}/x")).status == 400


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        ("1", 409, "rule 1 is in the configuration: remove it there, and reload"),
        ("2", 404, "there is no rule 2: it was removed, or is over"),
        ("x", 400, "'x' is no number of a rule"),
        ("1" * 19, 400, f"'{'1' * 19}' is no number of a rule"),
    ],
)
async def test_rules_that_cannot_be_removed(port: int, number: str, status: int, words: str) -> None:
    """The status and the reason."""
    answer = await send(port, "DELETE", f"{FAULTS}/{number}")
    assert (answer.status, answer.json()["error"]) == (status, words)


async def test_not_enabled(port: int) -> None:
    """409 for a virtual cluster without faults, 404 for one that is not there."""
    other = FAULTS.replace("main", "other")
    assert (await added(port, {"api": "Fetch", "close": True}, other)).status == 409
    assert (await fetch(port, other)).status == 409
    assert (await send(port, "DELETE", other)).status == 409
    assert (await fetch(port, FAULTS.replace("main", "gone"))).status == 404
