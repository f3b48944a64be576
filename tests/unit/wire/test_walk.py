"""kproxy.wire.walk: the building blocks of generated skims."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import uvarint
from kproxy.wire.walk import skip_tags, uvarint_at


@pytest.mark.parametrize("value", [0, 127, 128, 16383, 16384, 2097151, 2097152, 0x7FFFFFFF])
def test_uvarint_at(value: int) -> None:
    """The result equals the plain reader's, for every number of bytes."""
    raw = uvarint(value)
    assert uvarint_at(b"." + raw, 1) == (value, 1 + len(raw))


def test_skip_tags() -> None:
    """The result is the position behind all fields."""
    assert skip_tags(b"\x02\x01\x02ab\x05\x00.", 0, 8) == 7


def test_skip_tags_beyond_the_end() -> None:
    """A size beyond the message's end is refused at once."""
    with pytest.raises(MalformedMessageError, match="do not end"):
        skip_tags(b"\x02\x01\x7fab\x05\x00.", 0, 8)
