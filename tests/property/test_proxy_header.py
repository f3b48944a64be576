"""The PROXY header: any cut of the bytes gives the same, and junk is refused or waited for, never a crash."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kproxy.protocol.fault import Fault
from kproxy.relay.proxy_header import FIRST, MOST, ProxyHeader
from tests.unit.relay.test_proxy_header import HEADERS


@given(st.sampled_from(HEADERS), st.binary(max_size=20), st.data())
def test_cut_anywhere(made: tuple[bytes, str | None], behind: bytes, data: st.DataObject) -> None:
    """What is taken is the header, whatever comes at a time."""
    header, source = made
    left, read, taken = header + behind, ProxyHeader(), 0
    while not read.done:
        size = data.draw(st.integers(1, len(left)))
        count = read.feed(left[:size])
        taken += count
        left = left[count:]
    assert (taken, read.source, left) == (len(header), source, behind)


@given(st.sampled_from(("", *(one.decode("latin-1") for one in FIRST))), st.binary(max_size=300))
def test_junk(begin: str, rest: bytes) -> None:
    """It is a fault, or not enough, or a header; no more than the largest one is held."""
    read = ProxyHeader()
    try:
        taken = read.feed(begin.encode("latin-1") + rest)
    except Fault:
        return
    assert taken <= MOST
    assert read.done or taken == len(begin) + len(rest)
