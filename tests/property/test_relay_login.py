"""Any requests before a login, in any version: kproxy ends the client for a reason, or lets it in; nothing else."""

from __future__ import annotations

import math
import struct

import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.authentication.login import LOGIN_KEYS
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault
from kproxy.wire.primitives import frame
from tests.unit.relay.test_unauthenticated import PLAIN, RIGHT, SHA_256, WRONG, hello, say, shake, stranger

_HEAD = struct.Struct(">hhih")
_KEYS = st.sampled_from([*sorted(LOGIN_KEYS), 0, 3])
_VERSIONS = st.one_of(st.integers(-1, 6), st.integers(-(2**15), 2**15 - 1))
_WHOLE = st.sampled_from(
    [
        *(hello(version) for version in range(6)),
        *(shake(mechanism, version) for mechanism in (PLAIN, SHA_256, "?") for version in range(2)),
        *(say(message, version) for message in (RIGHT, WRONG, b"n,,n=carol,r=nonce") for version in range(3)),
        frame(RIGHT),
    ]
)


@st.composite
def _other_versions(draw: st.DrawFn) -> bytes:
    """A request whose version is another one than its body's."""
    whole = draw(_WHOLE)
    return whole[:6] + struct.pack(">h", draw(_VERSIONS)) + whole[8:]


_MADE_UP = st.builds(
    lambda key, version, rest: frame(_HEAD.pack(key, version, 9, -1), rest), _KEYS, _VERSIONS, st.binary(max_size=40)
)
_REQUESTS = st.lists(st.one_of(_WHOLE, _other_versions(), _MADE_UP, st.binary(max_size=12)), max_size=6)


async def _ended(sent: bytes) -> Reason | None:
    """Return why a client that says this, and nothing more, is ended; None where it is let in."""
    async with stranger() as client:
        if sent:
            await client.peer.send(sent)
        client.plain.half_close()
        try:
            await client.unauthenticated.authenticate(math.inf)  # a deadline would come while the system is busy
        except Fault as fault:
            assert client.context.principal is None
            return fault.reason
        assert client.context.principal == "User:carol"
        return None


@given(_REQUESTS)
@settings(max_examples=200)
def test_any_requests_before_a_login(requests: list[bytes]) -> None:
    """None of them is a fault in kproxy, which would have it say that it is not ready."""
    clock = trio.testing.MockClock(autojump_threshold=0.01)
    assert trio.run(_ended, b"".join(requests), clock=clock) is not Reason.INTERNAL_ERROR


@given(_KEYS, _VERSIONS)
@settings(max_examples=200)
def test_any_version_before_a_login(key: int, version: int) -> None:
    """One that kproxy does not know ends the client as such; ApiVersions is answered."""
    reason = trio.run(_ended, frame(_HEAD.pack(key, version, 9, -1), b"\0"))
    if key not in LOGIN_KEYS:
        assert reason is Reason.UNAUTHENTICATED_REQUEST
    elif key != 18 and not 0 <= version <= (1 if key == 17 else 2):
        assert reason is Reason.UNSUPPORTED_VERSION
    else:
        assert reason in {Reason.MALFORMED_REQUEST, Reason.CLIENT_CLOSED, Reason.AUTHENTICATION_FAILED}
