"""franz-go through kproxy, as an ordinary client; needs Go."""

from __future__ import annotations

import pytest

from tests.clients.test_leader_moves import check_followed, follow
from tests.clients.test_python_clients import check_everything, check_transactions
from tests.support.runs import Runs
from tests.support.side import Side
from tests.support.violation import check_whole

pytestmark = pytest.mark.go


def test_every_acks_byte_exact(side: Side) -> None:
    """As the Python clients: every acks setting, byte for byte, only the proxy's addresses."""
    check_everything(side, "franz_go")


def test_transactions(side: Side) -> None:
    """As the Python clients: committed is read, aborted is not."""
    check_transactions(side, "franz_go")


def test_follows_leaders(three: Side, runs: Runs) -> None:
    """Over several moves of all leaders no record is lost or doubled, and no connection bypasses the proxy."""
    topic, result, _ = follow(three, "franz_go", runs)
    check_whole(result)
    check_followed(three, topic, result)
