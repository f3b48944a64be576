# This module is pure (no I/O, no clock).
"""SASL tokens without Kafka's header: what follows SaslHandshake v0, as clients of before Kafka 1.0 send it.

Some libraries went on with it for long: kafka-python until 2.0.2, of 2020. With Kerberos a client may even begin with a
token, as there was no SaslHandshake in Kafka 0.9: Sarama with `SASLHandshakeV0`, and what is built on it, still do.

A token is its length and its bytes, in both directions. A broker knows it by the state of the connection. So does the
request flow (`Context.unframed`), and hands it on as the SaslAuthenticate request that later clients send.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import INT32, Buffer
from kproxy.wire.primitives import frame as framed

AUTHENTICATE_V0: Final = ApiKey.SASL_AUTHENTICATE << 16
"""Api key and version in one, of the request that a token goes on as. Every broker that has the API knows v0."""

Accepted = Callable[[bytes], bool]
"""Takes a token of the broker; returns whether it accepts the client."""


class Unframed(NamedTuple):
    """What is known of an exchange whose tokens come without Kafka's header. The client's requests come behind it."""

    accepted: Accepted
    tells_the_end: bool
    """False where a broker sends no last token, not even an empty one."""
    shaken: bool = True
    """False where the client has sent no SaslHandshake, and the broker needs one before the first token."""


GSS_TOKEN: Final = 0x60
"""What a client's first token of GSSAPI begins with (RFC 2743, 3.1). No API key does: those are small numbers."""
BARE: Final = Unframed(lambda token: not token, tells_the_end=False, shaken=False)
"""An exchange of GSSAPI that the client begins with a token."""


def is_bare(first: Buffer) -> bool:
    """Return whether a client's first bytes are a size and a GSSAPI token, and no request, nor a TLS handshake.

    That has a first byte that would be a size of more than 16 MiB.
    """
    return len(first) > INT32.size and first[0] == 0 and first[INT32.size] == GSS_TOKEN


def authenticate(client_id: str | None, token: Buffer) -> bytes:
    """Return a SaslAuthenticate request v0 with this token, without its size."""
    header = RequestHeader(ApiKey.SASL_AUTHENTICATE, 0, 0, client_id)
    return encode_request_header(header) + framed(token)
