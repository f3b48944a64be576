"""kproxy.delivery.batches: the meaning of a broker's answer."""

from __future__ import annotations

import pytest

from kproxy.delivery.batches import Verdict, verdict_on_code


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((0,), Verdict.DELIVERED),
        ((2, 7, 19, 20, 89), Verdict.AGAIN),
        ((3, 5, 6, 56, 100, 129), Verdict.REFRESH),
        ((10, 18), Verdict.APART),
        ((-1, 2000, 29, 48, 76, 87), Verdict.REFUSED),
    ],
)
def test_error_codes(codes: tuple[int, ...], expected: Verdict) -> None:
    """Errors that may pass, by themselves or with fresh metadata, are retried; too large batches are split."""
    assert {verdict_on_code(code) for code in codes} == {expected}
