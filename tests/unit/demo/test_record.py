"""kproxy.demo.record: size, encoding and decoding."""

from __future__ import annotations

import pytest

from kproxy.demo import record


@pytest.mark.parametrize(("number", "sent_ns"), [(0, 0), (999_999_999_999, 2**63)])
def test_round_trip(number: int, sent_ns: int) -> None:
    """Number and time are decoded, and every record has the size that the summary uses."""
    value = record.encode(number, sent_ns)
    assert (len(value), record.decode(value)) == (record.SIZE, (number, sent_ns))


@pytest.mark.parametrize("value", [b"", b"hello", b"000000000001 yesterday............ "])
def test_somebody_elses_record(value: bytes) -> None:
    """A foreign record raises ValueError, nothing else."""
    with pytest.raises(ValueError, match="invalid literal"):
        record.decode(value)
