"""kproxy.wire.tail: the tail of a streamed response has no broker address and keeps its length."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.primitives import uvarint
from kproxy.wire.skim import response_stream

HOST = b"broker-1.kafka"


def endpoints(host: bytes = HOST) -> bytes:
    """Return an array with one endpoint."""
    return b"\x02" + b"\x00\x00\x00\x07" + uvarint(len(host) + 1) + host + b"\x00\x00\x23\x84" + b"\x00\x00"


def fetch_tail(*unknown: tuple[int, bytes], array: bytes | None = None) -> bytes:
    """Return the tagged section at the end of a Fetch response."""
    fields = sorted([(0, endpoints() if array is None else array), *unknown])
    return uvarint(len(fields)) + b"".join(uvarint(tag) + uvarint(len(data)) + data for tag, data in fields)


def neutralised(tail: bytes, host: str, *, key: int = 1, version: int = 17) -> bytes:
    """Return the tail with `host` for every node."""
    stream = response_stream(key, version)
    assert stream is not None
    result = stream.neutralise(tail, lambda node_id, old, port: (host, 9092))
    assert len(result) == len(tail)
    return result


def test_host_of_the_same_length() -> None:
    """Only the host changes."""
    assert neutralised(fetch_tail(), "proxy-22.kafka") == fetch_tail(array=endpoints(b"proxy-22.kafka"))


def test_shorter_host() -> None:
    """A tagged field of zeros that no client knows fills the rest."""
    expected = b"\x02" + b"\x00" + bytes([len(endpoints(b"proxy"))]) + endpoints(b"proxy") + b"\x7f\x07" + bytes(7)
    assert neutralised(fetch_tail(), "proxy") == expected


def test_host_shorter_by_one() -> None:
    """One byte is too small for a tagged field: the number of fields is written in two bytes."""
    expected = b"\x81\x00" + b"\x00" + bytes([len(endpoints()) - 1]) + endpoints(b"proxy-1.kafka")
    assert neutralised(fetch_tail(), "proxy-1.kafka") == expected


def test_longer_host() -> None:
    """The endpoints are removed, so the client requests metadata instead; unknown fields stay."""
    result = neutralised(fetch_tail((3, b"keep")), "kproxy.example.org")
    size = len(endpoints())
    assert result == b"\x02" + b"\x03\x04keep" + b"\x7f" + bytes([size]) + bytes(size)


def test_padding_stands_among_other_fields_by_its_tag() -> None:
    """The tags stay in ascending order, and the padding's tag is a free one."""
    result = neutralised(fetch_tail((127, b"a"), (500, b"b")), "proxy-1")
    assert result.index(b"\x7e") < result.index(b"\x7f\x01a") < result.index(uvarint(500) + b"\x01b")


@pytest.mark.parametrize("spare", [2, 3, 128, 129, 130, 131, 132, 16_400])
def test_padding_of_any_size(spare: int) -> None:
    """It works even when the padding's size needs one byte more than the padding leaves."""
    result = neutralised(fetch_tail(array=endpoints(b"b" * (spare + 1))), "k")
    assert result.endswith(b"\x00" * min(spare - 4, 100) if spare > 4 else b"")


def test_no_endpoints() -> None:
    """A tail without endpoints is unchanged."""
    assert neutralised(b"\x01\x05\x02ab", "k") == b"\x01\x05\x02ab"


@pytest.mark.parametrize(("host", "array"), [("k", endpoints(b"k")), ("kproxy.example.org", b"\x01")])
def test_share_fetch(host: str, array: bytes) -> None:
    """The endpoints are a separate array before the tagged fields."""
    result = neutralised(endpoints() + b"\x00", host, key=78, version=1)
    spare = len(endpoints()) - len(array)
    assert result == array + b"\x01\x7f" + bytes([spare - 2]) + bytes(spare - 2)


@pytest.mark.parametrize("host", ["proxy-22.kafka", "proxy", "kproxy.example.org"])
def test_bytes_behind_the_last_field(host: str) -> None:
    """Clients ignore them, and librdkafka's mock cluster sends one: they stay."""
    assert neutralised(fetch_tail() + b"x", host) == neutralised(fetch_tail(), host) + b"x"


@pytest.mark.parametrize(
    "tail",
    [
        b"",
        b"\x01\x00\x02",
        fetch_tail(array=endpoints() + b"x"),
        fetch_tail(array=endpoints(b"\xff\xfe")),
        b"\x66" + b"".join(bytes((tag, 0)) for tag in range(102)),
    ],
    ids=["nothing", "cut", "bytes behind endpoints", "no UTF-8", "too many fields"],
)
def test_malformed(tail: bytes) -> None:
    """All raise MalformedMessageError."""
    with pytest.raises(MalformedMessageError):
        neutralised(tail, "k")
