"""Bytes of a client and of its broker, in any cuts, into both flows of a connection with every room's policies.

The oracle is `frame_order`. For some inputs it is also that cuts make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.wire.primitives import INT32, frame
from tests.fuzz.script import Script, Step, decode
from tests.fuzz.targets import frame_order
from tests.fuzz.targets.frame_seeds import seeds
from tests.fuzz.targets.target import ViolationError
from tests.fuzz.targets.virtual_cluster import FuzzedRelay, World

CLIENT, REQUEST, BROKER, REPLY, EPOCH, STEP, KEPT = range(7)
"""Kinds of steps: bytes of the client, a request without its size, bytes of the broker, a response without its size and
correlation id, a new epoch, a step of an answer of kproxy's own, the answer of the disk."""
_VARY: Final = frozenset({1, 71, 72, 78})
"""Fetch and ShareFetch, which are walked and not read where they are not whole in the buffer; telemetry's two, whose
answers depend on the time."""
_BEFORE_TOKENS: Final = b"\0\x11\0\0"
"""Api key and version of SaslHandshake v0."""
_CUTS: Final = (1, 2, 3, 5, 7, 11, 13, 64, 100, 1000)
_KEEPS_WHOLE: Final = 1 << 14
"""Longer inputs are not cut into single bytes: that takes seconds."""


class Frames:
    """The target; it plays each input whole, and every other one a second time in pieces."""

    kinds = KEPT + 1
    most = 1 << 15

    def __init__(self) -> None:
        self._world = World()
        self.seeds = seeds()

    def run(self, data: bytes) -> None:
        """Play the script; raise for what must not be."""
        script = decode(data)
        whole = self._played(script, cuts=())
        cut = script.settings[2]
        if cut & 1:
            sizes = _CUTS[cut % 10 :] if len(data) < _KEEPS_WHOLE else _CUTS[-2:]
            _check_same(self._played(script, sizes), whole)

    def close(self) -> None:
        """As `Target`: there is nothing."""

    def _played(self, script: Script, cuts: tuple[int, ...]) -> FuzzedRelay:
        relay = self._world.relay(script.settings)
        sent: tuple[bytearray, bytearray] = (bytearray(), bytearray())
        for step in script.steps:
            _take(relay, step, cuts, sent)
        relay.finish()
        relay.varies = any(request.key in _VARY for request in frame_order.requests(bytes(sent[0])))
        self._check(script, relay, *map(bytes, sent))
        return relay

    def _check(self, script: Script, relay: FuzzedRelay, from_client: bytes, from_broker: bytes) -> None:
        requests = frame_order.requests(from_client)
        if any(request.data[4:8] == _BEFORE_TOKENS for request in requests):
            return  # whether a request or a token comes next depends on what the broker has answered
        plain, unread = self._world.plain_keys(script.settings), self._world.unread_keys(script.settings)
        frame_order.check_requests(requests, bytes(relay.broker.data), plain)
        frame_order.check_responses(requests, from_broker, bytes(relay.client.data), unread)


def _take(relay: FuzzedRelay, step: Step, cuts: tuple[int, ...], sent: tuple[bytearray, bytearray]) -> None:
    if step.kind % Frames.kinds not in (CLIENT, REQUEST) and relay.requests.under_way:
        relay.interleaved = True
    match step.kind % Frames.kinds:
        case 0 | 1 as kind:
            data = step.data if kind == CLIENT else frame(step.data)
            sent[0].extend(data)
            for piece in _pieces(data, cuts):
                relay.feed("client", piece)
        case 2 | 3 as kind:
            data = step.data if kind == BROKER else frame(_due(relay), step.data)
            sent[1].extend(data)
            for piece in _pieces(data, cuts):
                relay.feed("broker", piece)
        case 4:
            relay.feed("epoch", b"")
        case 5:
            relay.take_step()
        case _:
            relay.telemetry.kept(well=not step.data)


def _due(relay: FuzzedRelay) -> bytes:
    """Return the correlation id that the broker's next response must have."""
    first = relay.in_flight.first
    return INT32.pack(0 if first is None else first.correlation_id)


def _pieces(data: bytes, cuts: tuple[int, ...]) -> Iterator[bytes]:
    sizes, pos = cycle(cuts), 0
    while pos < len(data):
        size = next(sizes, len(data))
        yield data[pos : pos + size]
        pos += size


def _check_same(cut: FuzzedRelay, whole: FuzzedRelay) -> None:
    """Check that pieces had the same outcome as the whole; before a fault more or less may have gone on."""
    reasons = {cut.reason, whole.reason}
    if (
        cut.interleaved or whole.interleaved or whole.varies or Reason.FRAME_TOO_LARGE in reasons
    ):  # what is whole need not be held
        return
    if len(reasons) > 1 and not (_waits(cut) or _waits(whole)):
        raise ViolationError(f"in pieces the connection ends for {cut.reason}, whole for {whole.reason}")
    _check_alike("broker", cut.broker.data, whole.broker.data, over=_is_over(whole))
    _check_alike("client", cut.client.data, whole.client.data, over=_is_over(whole))


def _waits(relay: FuzzedRelay) -> bool:
    """Return whether it would look at more bytes before it says what is wrong with those that are there."""
    return relay.reason is None and (relay.requests.under_way or relay.responses.under_way)


def _is_over(relay: FuzzedRelay) -> bool:
    return relay.reason is None and not _waits(relay)


def _check_alike(peer: str, found: bytearray, expected: bytearray, *, over: bool) -> None:
    if found != expected and (over or not (found.startswith(expected) or expected.startswith(found))):
        raise ViolationError(f"in pieces the {peer} gets other bytes than whole")


def make() -> Frames:
    """Return the target."""
    return Frames()
