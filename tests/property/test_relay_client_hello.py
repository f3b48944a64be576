"""kproxy.relay.client_hello: hostile bytes, and any way of cutting a hello."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from kproxy.protocol.fault import Fault
from kproxy.relay.client_hello import MAX_HELLO, MAX_RECORDS, ClientHello
from tests.unit.relay.hellos import large, records

_MOST = MAX_RECORDS * 5 + 2 * MAX_HELLO + 9


def fed(data: bytes) -> ClientHello:
    """Return a hello that has been fed byte by byte, as far as it wants."""
    hello = ClientHello()
    for size in range(1, len(data) + 1):
        if hello.wants:
            hello.feed(data[:size])
    return hello


@given(st.binary(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_damaged_hellos(damage: bytes, begin: int, size: int) -> None:
    """They are read, waited for, or refused by a fault; what is wanted grows, and stays small."""
    data = records(large(100))
    data = data[:begin] + damage + data[begin + size :]
    hello, wanted = ClientHello(), 0
    with suppress(Fault):
        while 0 < hello.wants <= len(data):
            assert wanted < hello.wants < _MOST
            wanted = hello.wants
            hello.feed(data[:wanted])


@given(st.lists(st.integers(1, 60), max_size=MAX_RECORDS - 1), st.binary(min_size=1, max_size=60))
def test_any_cut(sizes: list[int], name: bytes) -> None:
    """The name is found, however a hello is spread over records and segments."""
    assert fed(records(large(50, name), sizes)).name == name.decode("latin-1")
