"""kproxy.explained: the errors that kproxy itself answers are those that its sources name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import kproxy
from kproxy.errors import ErrorClass
from kproxy.explained.errors import TEXTS
from kproxy.explained.originated import WHY
from kproxy.wire.generated.error_codes import ErrorCode

PACKAGE = Path(kproxy.__file__).parent
ANSWERING = ("authentication", "coordinator", "producers", "protocol", "quotas", "rebootstrap", "relay", "telemetry")
"""The rooms that answer clients; others read codes, or have them in their own requests' answers."""
NOT_ANSWERED = {
    ErrorCode.NONE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,  # what `kproxy groups lag` shows of a partition that a broker lacks
    ErrorCode.FENCED_MEMBER_EPOCH,  # what a broker answers to a member of a KIP-848 group
    ErrorCode.ILLEGAL_SASL_STATE,  # what a broker without SASL answers to a handshake
}


def named() -> Iterator[ErrorCode]:
    """Yield each `ErrorCode.NAME` in the sources of these rooms."""
    for room in ANSWERING:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "ErrorCode":
                    yield ErrorCode[node.attr]


def test_each_error_of_kproxys_own_is_told() -> None:
    """A code that a room begins to answer with needs a text that says when, and one that no room names has none."""
    told = {code for code, text in TEXTS.items() if text.kproxy}
    assert sorted(set(named()) - NOT_ANSWERED) == sorted(told)


def test_each_has_a_reason_for_its_class() -> None:
    """A code that a room begins to answer with needs one; each is a sentence that fits into a table's cell."""
    assert sorted(WHY) == sorted(set(named()) - NOT_ANSWERED)
    for why in WHY.values():
        assert why[0].isupper() or why.startswith("kproxy ")
        assert why.endswith(".")
        assert "|" not in why
        assert "\n" not in why


def test_reasons_agree_with_classes() -> None:
    """Somebody must change something where, and only where, the class says so."""
    changing = {code for code, why in WHY.items() if why.startswith("Somebody must change")}
    assert changing == {code for code in WHY if code.error_class is ErrorClass.INVALID_CONFIGURATION}


def test_no_error_of_kproxys_own_would_have_a_client_abort() -> None:
    """kproxy has no part in a transaction, so it answers none of the abortable codes (48 and 120)."""
    assert [code for code in WHY if code in (ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE)] == []
