"""A scripted broker that asks for SASL/PLAIN, and refuses, ends sessions and misbehaves as it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import trio

from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import RequestHeader, decode_request_header, encode_response_header
from kproxy.wire.primitives import frame
from tests.unit.upstream.scripted_broker import API_VERSIONS, METADATA, ScriptedBroker

HANDSHAKE, AUTHENTICATE = SaslHandshakeRequest.api_key, SaslAuthenticateRequest.api_key

Verdict = Callable[[bytes], SaslAuthenticateResponse]


@dataclass
class _Session:
    authenticated: bool = False
    ends: float = float("inf")


class SaslBroker(ScriptedBroker):
    """Answers a message of SASL by `verdict`; closes connections that ask for anything else before, or too late."""

    def __init__(self, verdict: Verdict, *, mechanisms: tuple[str, ...] = ("PLAIN",), code: int = 0) -> None:
        super().__init__()
        self.verdict = verdict
        self.handshake = SaslHandshakeResponse(error_code=code, mechanisms=list(mechanisms))
        self.offered = {HANDSHAKE: (0, 1), AUTHENTICATE: (0, 2)}
        self.mechanisms: list[str] = []
        self.messages: list[bytes] = []
        self.refused = 0
        """Connections that asked too soon, or too late."""
        self._sessions: dict[trio.SocketStream, _Session] = {}

    def _hello(self, version: int) -> bytes:
        keys = [ApiVersion(METADATA, 0, 12), ApiVersion(API_VERSIONS, 0, 4)]
        keys += [ApiVersion(key, *range_) for key, range_ in self.offered.items()]
        return ApiVersionsResponse(api_keys=keys).encode(version)

    async def _handle(self, stream: trio.SocketStream, request: bytes) -> None:
        header, at = decode_request_header(request, 0, len(request))
        session = self._sessions.setdefault(stream, _Session())
        if header.api_key == HANDSHAKE:
            self.mechanisms.append(SaslHandshakeRequest.decode(request[at:], header.api_version).mechanism)
            await self._answer(stream, header, self.handshake.encode(header.api_version))
        elif header.api_key == AUTHENTICATE:
            message = SaslAuthenticateRequest.decode(request[at:], header.api_version).auth_bytes
            self.messages.append(message)
            answer = self.verdict(message)
            session.authenticated = not answer.error_code
            if answer.session_lifetime_ms:
                session.ends = trio.current_time() + answer.session_lifetime_ms / 1000
            await self._answer(stream, header, answer.encode(header.api_version))
        elif header.api_key == API_VERSIONS or (session.authenticated and trio.current_time() < session.ends):
            await super()._handle(stream, request)
        else:
            self.refused += 1
            await stream.aclose()

    @staticmethod
    async def _answer(stream: trio.SocketStream, header: RequestHeader, body: bytes) -> None:
        head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
        await stream.send_all(frame(head, body))
