"""confluent-kafka, kafka-python and aiokafka through kproxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.client import PYTHON_CLIENTS, script
from tests.support.side import Side
from tests.support.violation import check_whole

COUNT = 300
WHOLE = {"acknowledged": COUNT, "consumed": COUNT, "missing": 0, "duplicates": 0, "wrong": 0}
INVISIBLE = {"acknowledged": COUNT, "consumed": 0, "missing": COUNT, "duplicates": 0, "wrong": 0}


def check_acks(results: Mapping[str, Mapping[str, int]]) -> None:
    """No acknowledged record is lost; without acks a client cannot know."""
    for acks, result in results.items():
        if acks != "0":
            check_whole(result, f"records with acks {acks}")


def check_everything(side: Side, client: str) -> None:
    """Check a new topic, produce with acks 0, 1, all and idempotence, consume in a group, describe the cluster."""
    names = {"topic": side.fresh(client), "group": side.fresh("group")}
    command = script(client, "everything", bootstrap=side.bootstrap, count=COUNT, replicas=side.replicas, **names)
    with side.running(command) as running:
        result = running.result()
    check_acks(result["acks"])
    assert result["acks"] == dict.fromkeys(("0", "1", "all", "idempotent"), WHOLE)
    side.check_nodes([tuple(node) for node in result["nodes"]])


def check_transactions(side: Side, client: str) -> None:
    """Check two committed transactions with an aborted one between, offsets with each: read_committed sees the two."""
    names = {"topic": side.backend.topic(3), "group": side.fresh("group"), "transactional_id": side.fresh("tx")}
    with side.running(script(client, "transactions", bootstrap=side.bootstrap, count=COUNT, **names)) as running:
        result: dict[str, Any] = running.result()
    for name in ("first", "last"):
        check_whole(result[name], f"records of the {name} transaction")
    assert result == {"committed": len("last"), "first": WHOLE, "aborted": INVISIBLE, "last": WHOLE}


@pytest.mark.parametrize("client", PYTHON_CLIENTS)
def test_every_acks_byte_exact(side: Side, client: str) -> None:
    """Records produced with every acks setting are consumed byte for byte, and only the proxy's addresses are seen."""
    check_everything(side, client)


@pytest.mark.parametrize("client", PYTHON_CLIENTS)
def test_transactions(side: Side, client: str) -> None:
    """Committed records are read, aborted ones are not, and the offsets of the last commit hold."""
    check_transactions(side, client)
