"""What is held until it is whole, the same in both directions: bytes of any pieces, and what waits for a word."""

from __future__ import annotations

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.relay.fault import Fault
from kproxy.relay.flow import UNTIL_TOLD, Flow
from tests.unit.relay.flows import Wire

SIZE = 4


class Fours(Flow):
    """Frames of four bytes, each of which must be whole; `looks` is what each look began with."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire)
        self.looks: list[bytes] = []

    def feed(self, data: bytes) -> None:
        buf = memoryview(data)
        pos = self._complete(buf, 0.0)
        if pos >= 0:
            rest = self._scan(buf, pos, 0.0)
            if rest is not None:
                self.sink.send(rest)

    def wait(self) -> None:
        self._hold(memoryview(b""), 0, 0, UNTIL_TOLD)

    def go_on(self) -> None:
        self._take_up(0.0, Reason.MALFORMED_REQUEST)

    def _scan(self, buf: memoryview, pos: int, now: float) -> memoryview | None:
        self.looks.append(bytes(buf[pos:]))
        whole = len(buf) - (len(buf) - pos) % SIZE
        if b"!" in bytes(buf[pos:whole]):
            raise MalformedMessageError("an exclamation mark")
        self.count += (whole - pos) // SIZE
        if whole < len(buf):
            self._hold(buf, pos, whole, SIZE)
            return None
        return buf[pos:] if whole > pos else None


@pytest.mark.parametrize("size", range(1, 13))
def test_a_frame_is_held_until_it_is_whole(size: int) -> None:
    """Whatever the pieces: the same bytes go on, each frame once, and what is not whole is what is held."""
    wire, sent = Wire(), b"abcdefghijklmnopqr"
    flow = Fours(wire)
    for pos in range(0, len(sent), size):
        flow.feed(sent[pos : pos + size])
    assert (bytes(wire.data), flow.count, flow.held_bytes) == (sent[:16], 4, 2)


def test_what_is_whole_is_looked_at_in_the_buffer_that_it_came_in() -> None:
    """Only the frame that began earlier was held; what is behind it is not copied."""
    flow = Fours(Wire())
    flow.feed(b"ab")
    flow.feed(b"cdefghijkl")
    assert flow.looks == [b"ab", b"abcd", b"efghijkl"]


def test_what_waits_for_a_word_is_held_whatever_its_size() -> None:
    """Then it is taken up, its last part held until that is whole."""
    wire = Wire()
    flow = Fours(wire)
    flow.wait()
    for part in (b"abcd", b"efgh", b"ij"):
        flow.feed(part)
    assert (bytes(wire.data), flow.looks, flow.held_bytes) == (b"", [], 10)
    flow.go_on()
    assert (bytes(wire.data), flow.held_bytes) == (b"abcdefgh", 2)


def test_nothing_has_waited() -> None:
    """Told to go on, there is nothing to look at."""
    flow = Fours(Wire())
    flow.wait()
    flow.go_on()
    assert (flow.looks, flow.held_bytes) == ([], 0)


def test_what_has_waited_may_be_malformed() -> None:
    """It is the fault of whose bytes they are."""
    flow = Fours(Wire())
    flow.wait()
    flow.feed(b"abc!")
    with pytest.raises(Fault) as caught:
        flow.go_on()
    assert (caught.value.reason, caught.value.detail) == (Reason.MALFORMED_REQUEST, "an exclamation mark")


def test_nothing_is_ever_enough_bytes_to_go_on() -> None:
    """What must wait for a word is held until no frame could be as long."""
    assert UNTIL_TOLD > 1 << 40
