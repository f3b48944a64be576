"""The exception that ends a connection."""

from __future__ import annotations

from kproxy.errors import KproxyError
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault


def test_a_fault_has_reason_and_detail() -> None:
    """Separately, for the counters and the log, and in one line."""
    fault = Fault(Reason.UNKNOWN_API, "api key 99", 99)
    assert (fault.reason, fault.detail, fault.api_key) == (Reason.UNKNOWN_API, "api key 99", 99)
    assert str(fault) == "unknown_api: api key 99"
    assert isinstance(fault, KproxyError)
    assert Fault(Reason.CLIENT_CLOSED, "").api_key is None
