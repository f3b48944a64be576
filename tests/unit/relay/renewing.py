"""kproxy's login on a relayed connection: the identity's part, in two questions, and the broker's, as tests play it."""

from __future__ import annotations

import struct
import time
from functools import partial

from kproxy.errors import IdentityError
from kproxy.upstream.authentication import Asked
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import RequestHeader, decode_request_header
from kproxy.wire.primitives import frame
from tests.unit.relay.sockets import Peer, Relayed

PROOF = b"\0bob\0secret"
HANDSHAKE, AUTHENTICATE = 17, 36
SESSION = 3600.0


async def _identify(limit: float, broker: Asked, where: str) -> float:
    await broker.request(SaslHandshakeRequest("PLAIN"), SaslHandshakeResponse, limit)
    said = await broker.request(SaslAuthenticateRequest(PROOF), SaslAuthenticateResponse, limit)
    if said.error_code:
        raise IdentityError(f"{where}: the broker refuses it")
    return said.session_lifetime_ms / 1000


def begin(relayed: Relayed, after: float = 0.0, limit: float = 10.0) -> None:
    """Have the next sweep begin kproxy's login, by PLAIN; an answer may take `limit` seconds."""
    relayed.backend.identify = partial(_identify, limit)  # type: ignore[method-assign]
    relayed.connection.destination = relayed.backend
    relayed.connection.context.renew_at = time.monotonic() + after


async def asked(broker: Peer, key: int) -> RequestHeader:
    """Return the header of the next request that arrives, which must be kproxy's, of this API."""
    size = int.from_bytes(await broker.receive(4), "big")
    request = await broker.receive(size)
    header, body = decode_request_header(request, 0, size)
    assert (header.api_key, header.api_version, header.client_id) == (key, 1, "kproxy")
    if key == AUTHENTICATE:
        assert SaslAuthenticateRequest.decode(request[body:], 1).auth_bytes == PROOF
    return header


def offered(header: RequestHeader) -> bytes:
    """Return the broker's answer to SaslHandshake."""
    return _answered(header, SaslHandshakeResponse(mechanisms=["PLAIN"]).encode(1))


def accepted(header: RequestHeader, seconds: float = SESSION) -> bytes:
    """Return the answer to the proof, with the session's lifetime."""
    return _answered(header, SaslAuthenticateResponse(session_lifetime_ms=round(seconds * 1000)).encode(1))


def refused(header: RequestHeader) -> bytes:
    """Return the refusal of the proof."""
    return _answered(header, SaslAuthenticateResponse(error_code=58, error_message="no").encode(1))


def _answered(header: RequestHeader, body: bytes) -> bytes:
    return frame(struct.pack(">i", header.correlation_id), body)


async def let_in(broker: Peer, seconds: float = SESSION) -> None:
    """Play the broker's part from the first question to the last answer."""
    await broker.send(offered(await asked(broker, HANDSHAKE)))
    await broker.send(accepted(await asked(broker, AUTHENTICATE), seconds))
