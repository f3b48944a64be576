"""Byte rates of principals that a broker has authenticated: each has its own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.clients.test_byte_rates import LEAST, SLACK, Throttles, produced
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured

RULES: Final = [{"principal": "User:alice", "produce": "1MB"}, {"principal": "User:ANONYMOUS", "produce": 1000}]


@pytest.mark.parametrize(("mechanism", "user", "limited"), [("PLAIN", "alice", True), ("SCRAM-SHA-512", "bob", False)])
def test_whom_the_broker_knows(
    broker: Secured, tmp_path: Path, mechanism: str, user: str, limited: bool, bounds: Bounds
) -> None:
    """Alice is told to wait; Bob, whom no rule names, is not, and neither counts as anonymous."""
    topic, told = Backend(broker.cluster).topic(1, 1), Throttles()
    with Proxy(tmp_path, {"secured": broker.bootstrap}, each={"byte_rates": RULES}) as proxy:
        sasl = {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": PASSWORD}
        took = produced(proxy, topic, told, **sasl, **{"security.protocol": "SASL_PLAINTEXT"})
    if limited:
        assert took > LEAST - SLACK
    else:
        bounds.below(took, LEAST - SLACK, "seconds of produced")
    assert any(told.told) == limited
