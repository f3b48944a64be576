"""kafkajs through kproxy; needs node."""

from __future__ import annotations

import pytest

from tests.clients.test_python_clients import check_everything, check_transactions
from tests.support.side import Side

pytestmark = pytest.mark.node


def test_every_acks_byte_exact(side: Side) -> None:
    """As the Python clients: every acks setting, byte for byte, only the proxy's addresses."""
    check_everything(side, "kafkajs")


def test_transactions(side: Side) -> None:
    """As the Python clients: committed is read, aborted is not."""
    check_transactions(side, "kafkajs")
