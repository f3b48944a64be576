"""Clients that authenticate to kproxy: asks who they are before any broker is dialled for them.

`Logins` awaits `authenticate` in the client's task. Only ApiVersions, SaslHandshake and SaslAuthenticate are
answered; whatever else comes ends the connection, as at a broker.
"""

from __future__ import annotations

import socket
import ssl
import time
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Final

import trio

from kproxy.authentication.authenticator import MTLS, REFUSAL_DELAY
from kproxy.authentication.distinguished_name import distinguished_name
from kproxy.authentication.exchange import AuthenticationRefusedError, AuthenticationUnavailableError
from kproxy.authentication.login import LOGIN_KEYS, Login, LoginStep
from kproxy.errors import MalformedMessageError, UnsupportedApiError
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import MAX_NAME, Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer
from kproxy.protocol.sasl_tokens import GSS_TOKEN
from kproxy.relay.exact_socket import ExactSocket, words
from kproxy.relay.password_turns import check_in_turn
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.header import decode_request_header
from kproxy.wire.primitives import frame as framed

if TYPE_CHECKING:
    from kproxy.authentication.authenticator import Authenticator
    from kproxy.authentication.certificate_rules import CertificateRules
    from kproxy.protocol.api_table import ApiTable
    from kproxy.relay.destination import Destination
    from kproxy.relay.exact_socket import Awaits

_MOST_REQUESTS: Final = 16
_KEY_AND_VERSION: Final = Struct(">I")
_FEATURE_LEVEL_ZERO_FROM: Final = 4
_LOWEST_BYTES: Final = 8
_SIZE_BYTES: Final = 4


class Unauthenticated:
    """One client before it is authenticated."""

    def __init__(
        self, client: socket.socket, context: Context, table: ApiTable, authenticator: Authenticator, hello: Hello
    ) -> None:
        """`hello` is what the brokers last answered to ApiVersions; None while no broker has."""
        self._client = client
        self._context = context
        self._table = table
        self._hello = hello
        self._login = Login(authenticator, partial(check_in_turn, context.host))
        self._most_bytes = authenticator.most_bytes
        self._socket = ExactSocket(client)

    @property
    def mechanism(self) -> str:
        """What the client chose, of those that are offered; "" before."""
        return self._login.mechanism

    def refusal(self, fault: Fault) -> str:
        """Return why a client that ends so is refused, as the log says it; "" where it is not.

        One that was told a refusal may do anything but acknowledge it.
        """
        if told := self._login.told_refusal:
            return self._said(told)
        return fault.detail if fault.reason is Reason.AUTHENTICATION_FAILED else ""

    def _said(self, refusal: str) -> str:
        return f"{self._login.mechanism}: {refusal}" if self._login.mechanism else refusal

    async def authenticate(self, seconds: float, awaits: Awaits | None = None) -> None:
        """Note the principal in the context, and the end of its session; raises `Fault` where there is none in time.

        All waits for the client go through `awaits`, if there is one.
        """
        self._socket.awaits = awaits or self._socket.awaits
        with trio.move_on_after(seconds):
            for _ in range(_MOST_REQUESTS):
                await trio.lowlevel.checkpoint()  # a client may have sent many
                step = await self._step(await self._request())
                if step.refusal:
                    await self._refuse(step)
                await self._send(step.frame)
                if step.principal is not None:
                    self._accept(step.principal, step.seconds)
                    return
            raise Fault(Reason.AUTHENTICATION_FAILED, f"not authenticated by {_MOST_REQUESTS} requests")
        raise Fault(Reason.AUTHENTICATION_TIMEOUT, f"not authenticated in {seconds:g} s")

    def _accept(self, principal: str, seconds: float) -> None:
        if isinstance(self._client, ssl.SSLSocket) and self._client.pending():
            raise Fault(Reason.UNAUTHENTICATED_REQUEST, "a request came together with the authentication")
        self._context.principal = principal
        self._context.session_ends = time.monotonic() + seconds

    async def _refuse(self, step: LoginStep) -> None:
        """Tell the client, late, so that guesses take their time."""
        await trio.sleep(REFUSAL_DELAY)
        await self._send(step.frame)
        raise Fault(Reason.AUTHENTICATION_FAILED, self._said(step.refusal))

    async def _step(self, request: bytes) -> LoginStep:
        try:
            if self._login.unframed:
                return await self._login.say_unframed(request)
            if len(request) < _LOWEST_BYTES:
                raise Fault(Reason.MALFORMED_REQUEST, f"a request of {len(request)} bytes before authentication")
            return await self._answer(memoryview(request))
        except MalformedMessageError as error:
            raise Fault(Reason.MALFORMED_REQUEST, str(error)) from error
        except AuthenticationUnavailableError as error:
            raise Fault(Reason.AUTHENTICATION_UNAVAILABLE, str(error)) from error

    async def _answer(self, request: memoryview) -> LoginStep:
        if request[0] == GSS_TOKEN:
            raise Fault(Reason.AUTHENTICATION_FAILED, self._said("it sends a Kerberos token; GSSAPI is not offered"))
        (key_and_version,) = _KEY_AND_VERSION.unpack_from(request)
        if key_and_version >> 16 not in LOGIN_KEYS:
            detail = f"a request of API {key_and_version >> 16} came before the client was authenticated"
            raise Fault(Reason.UNAUTHENTICATED_REQUEST, detail, key_and_version >> 16)
        header, _ = decode_request_header(request, 0, len(request))
        if header.client_id is not None:
            self._context.client_id = header.client_id[:MAX_NAME]
        # Else a client could try one token after another.
        if self._login.told_refusal and header.api_key != ApiKey.SASL_AUTHENTICATE:
            raise Fault(Reason.AUTHENTICATION_FAILED, self._said(self._login.told_refusal))
        if header.api_key == ApiKey.API_VERSIONS:
            return LoginStep(await self._versions(request, key_and_version))
        try:
            if header.api_key == ApiKey.SASL_HANDSHAKE:
                return self._login.shake(request)
            return await self._login.say(request)
        except UnsupportedApiError as error:
            raise Fault(Reason.UNSUPPORTED_VERSION, str(error), header.api_key) from error

    async def _versions(self, request: memoryview, key_and_version: int) -> bytes:
        """Answer ApiVersions as the relay does, as if a broker had answered it just now."""
        route = self._table.route(key_and_version)
        assert route.policy.request is not None, "the relay has a policy for ApiVersions"
        outcome = route.policy.request(self._context, request)
        if isinstance(outcome, Answer):
            if outcome.last is not None:
                await self._send(outcome.frame)
                raise Fault(outcome.last, "ApiVersions before authentication")
            return outcome.frame
        if self._hello is None:
            raise Fault(Reason.CONNECT_FAILED, "no broker has told yet which versions it serves")
        version = min(route.version, ApiVersionsResponse.max_version - 1)
        response = bytes(request[4:8]) + _for_version(self._hello, version).encode(version)
        chunks = route.respond(self._context, memoryview(response))
        return framed(response) if chunks is None else framed(*chunks)

    async def _request(self) -> bytes:
        size = int.from_bytes(await self._exactly(_SIZE_BYTES), "big", signed=True)
        if not 0 <= size <= self._most_bytes:
            detail = f"a request of {size} bytes came before authentication, {self._most_bytes} are allowed"
            raise Fault(Reason.FRAME_TOO_LARGE, detail)
        return await self._exactly(size)

    async def _exactly(self, count: int) -> bytes:
        """Read so many bytes and no more: what follows the authentication is the pump's."""
        try:
            found = await self._socket.receive(count)
        except OSError as error:
            raise Fault(Reason.CLIENT_RESET, words(error)) from error
        if found is None:
            raise Fault(Reason.CLIENT_CLOSED, "before it was authenticated")
        return found

    async def _send(self, frame: bytes) -> None:
        try:
            await self._socket.send(frame)
        except OSError as error:
            raise Fault(Reason.CLIENT_RESET, words(error)) from error


Hello = ApiVersionsResponse | None


def _for_version(hello: ApiVersionsResponse, version: int) -> ApiVersionsResponse:
    """Return the answer for a version: before v4, clients take a feature whose lowest level is 0 for an error."""
    if version >= _FEATURE_LEVEL_ZERO_FROM:
        return hello
    features = [one for one in hello.supported_features if one.min_version > 0]
    found = ApiVersionsResponse(api_keys=hello.api_keys, supported_features=features)
    found.finalized_features_epoch = hello.finalized_features_epoch
    found.finalized_features = hello.finalized_features
    return found


def certify(destination: Destination, context: Context, client: socket.socket, rules: CertificateRules) -> None:
    """Note whom a client's verified certificate says it is; raises `Fault` where that is nobody."""
    try:
        context.principal = rules.principal(_subject(client))
    except AuthenticationRefusedError as error:
        destination.audit(context, MTLS, str(error))
        raise Fault(Reason.AUTHENTICATION_FAILED, f"{MTLS}: {error}") from error


def _subject(client: socket.socket) -> str:
    """Return the subject of a client's verified certificate, which may be empty. Raises AuthenticationRefusedError."""
    shown = client.getpeercert() if isinstance(client, ssl.SSLSocket) else None
    if not shown:  # {} for a certificate that OpenSSL was not asked to verify
        raise AuthenticationRefusedError("it has shown no certificate that could be verified")
    return distinguished_name(shown.get("subject", ()))  # type: ignore[arg-type]
