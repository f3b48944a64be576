"""The request that a SASL token without Kafka's header goes on as."""

from __future__ import annotations

import pytest

from kproxy.protocol.sasl_tokens import AUTHENTICATE_V0, authenticate
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.header import decode_request_header


@pytest.mark.parametrize("client_id", [None, "", "c", "x" * 30_000])
@pytest.mark.parametrize("token", [b"", b"\0alice\0secret", bytes(100_000)])
def test_it_is_read_back(client_id: str | None, token: bytes) -> None:
    """With the client's id and the token, in the version that every broker knows."""
    request = authenticate(client_id, memoryview(token))
    header, body = decode_request_header(request, 0, len(request))
    assert (header.api_key << 16 | header.api_version, header.correlation_id) == (AUTHENTICATE_V0, 0)
    assert header.client_id == (None if client_id is None else client_id[:8191])
    assert SaslAuthenticateRequest.decode(memoryview(request)[body:], 0).auth_bytes == token
