"""Orders as JSON: what was written is read, and a stranger's record is refused in one line."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import LaterVersionError, Order, decode_order, encode_order

ORDER = Order("orders", 7, "west", FailoverRecord(3, "id", True, ("id", "other"), True), "a1", "operator", 1.5)


def test_there_and_back() -> None:
    """All fields, the stay's too."""
    assert decode_order(encode_order(ORDER)) == ORDER


def test_rank() -> None:
    """The number decides, then the replica; never the time."""
    others = [replace(ORDER, number=8, replica="a0", at=0.0), replace(ORDER, replica="b0", at=0.0)]
    assert all(other.rank > ORDER.rank for other in others)
    assert {ORDER.key, *(other.key for other in others)} == {"orders/7/a1", "orders/8/a0", "orders/7/b0"}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not an order: Invalid JSON"),
        (b"\xff\xfe", "not an order: Invalid JSON"),
        (b"[]", "not an order: Input should be"),
        (b"{}", "not an order: cluster: Field required"),
        (json.dumps(json.loads(encode_order(ORDER)) | {"number": 0}).encode(), "number: Input should be greater"),
        (json.dumps(json.loads(encode_order(ORDER)) | {"number": 1 << 60}).encode(), "number: Input should be less"),
        (json.dumps(json.loads(encode_order(ORDER)) | {"upstream": "x" * 300}).encode(), "upstream: String should"),
        (json.dumps(json.loads(encode_order(ORDER)) | {"stay": 3}).encode(), "stay: Input should be"),
        (json.dumps(json.loads(encode_order(ORDER)) | {"version": 2}).encode(), "an order of version 2; this kproxy"),
    ],
)
def test_what_is_no_order(data: bytes, why: str) -> None:
    """One line, without what was in it."""
    with pytest.raises(ValueError, match=why) as raised:
        decode_order(data)
    assert "\n" not in str(raised.value)


def test_an_order_of_a_later_version() -> None:
    """It is told apart from what is none, whatever its fields are."""
    with pytest.raises(LaterVersionError):
        decode_order(b'{"version": 2, "what": "a later kproxy knows"}')
