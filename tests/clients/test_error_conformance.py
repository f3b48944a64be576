"""Cells of docs/error-conformance.md, measured again: what the page says of two libraries is still so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.cases import Case
from tests.conformance.clients import JAVA, LIBRDKAFKA, Client
from tests.conformance.measure import measured
from tests.conformance.observation import finding
from tests.conformance.record import KEPT, loaded
from tests.support.backend import Backend

CASES = (
    Case("Produce", "NOT_LEADER_OR_FOLLOWER"),
    Case("EndTxn", "TRANSACTION_ABORTABLE"),
    Case("EndTxn", "PRODUCER_FENCED"),
    Case("OffsetCommit", "ILLEGAL_GENERATION"),
)


@pytest.mark.parametrize("client", [LIBRDKAFKA, JAVA], ids=lambda one: one.name)
def test_the_page_is_right(client: Client, newest_kafka: Backend, tmp_path: Path) -> None:
    """An error of four classes does to the client what the page says: behaviour, and the error's name."""
    kept = loaded(KEPT.read_text(encoding="utf-8")).columns[client.name]
    found = {one.case: finding(one) for one in measured(client, CASES, newest_kafka, tmp_path)}
    said = {case: (kept.found[case].behaviour, kept.found[case].error) for case in CASES}
    assert {case: (one.behaviour, one.error) for case, one in found.items()} == said
