"""SASL on a connection whose client has authenticated to kproxy: it does so again before its session ends (KIP-368).

Runs for each SaslHandshake (17) and SaslAuthenticate (36) request of a virtual cluster with `authentication`. kproxy
answers both itself; no broker sees them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

import trio

from kproxy.authentication.authenticator import MOST_BYTES, REFUSAL_DELAY
from kproxy.authentication.exchange import AuthenticationUnavailableError
from kproxy.authentication.login import Login, LoginStep
from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, OnRequest
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, Deferred
from kproxy.relay.password_turns import check_in_turn
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import decode_request_header

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from kproxy.authentication.authenticator import Authenticator
    from kproxy.protocol.context import Context

_SOONEST: Final = 1.0
"""Seconds between two authentications of a connection, as at a broker: each may take thousands of hashes."""


class Authenticating(Protocol):
    """The virtual cluster."""

    authenticator: Authenticator | None
    """What authenticates clients now; a reload may change it, or take it away."""

    def audit(self, context: Context, mechanism: str, refused: str | None) -> None:
        """Note that a client has authenticated, or why it is refused."""

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Have `work` done in a task."""


class _Again:
    """A connection's present exchange, when it last began one, and the answer that is worked on."""

    def __init__(self) -> None:
        self.login: Login | None = None
        self.begun = -math.inf
        self.answer: Deferred | None = None


def shake(at: Authenticating, context: Context, frame: memoryview) -> Answer:
    """Answer SaslHandshake; raises `Fault` where it comes too soon after the last one."""
    again, now = context.state(_Again), time.monotonic()
    if now < again.begun + _SOONEST or again.answer is not None:
        detail = f"the client authenticates twice within {_SOONEST:g} s"
        raise Fault(Reason.AUTHENTICATION_FAILED, detail, ApiKey.SASL_HANDSHAKE)
    if at.authenticator is None:
        raise Fault(Reason.AUTHENTICATION_FAILED, "a reload took `authentication` away", ApiKey.SASL_HANDSHAKE)
    again.login, again.begun = Login(at.authenticator, partial(check_in_turn, context.host)), now
    step = again.login.shake(frame)
    if not step.refusal:
        return Answer(step.frame)
    at.audit(context, again.login.mechanism, step.refusal)
    return Answer(step.frame, Reason.AUTHENTICATION_FAILED, step.refusal)


def say(at: Authenticating, context: Context, frame: memoryview) -> Deferred:
    """Answer SaslAuthenticate when the exchange has: in a task, since it may take thousands of hashes."""
    again = context.state(_Again)
    if again.login is None or again.answer is not None:
        why = "SaslAuthenticate came without SaslHandshake, or before the last one was answered"
        raise Fault(Reason.AUTHENTICATION_FAILED, why)
    again.answer = answer = Deferred()
    at.run(partial(_say, at, context, again, again.login, bytes(frame)))
    return answer


async def _say(at: Authenticating, context: Context, again: _Again, login: Login, frame: bytes) -> None:
    answer = again.answer
    assert answer is not None, "`say` has made it"
    try:
        step = _same_principal(context, login, frame, await login.say(memoryview(frame)))
    except MalformedMessageError as error:
        answer.resolve(b"", Reason.MALFORMED_REQUEST, str(error))
        return
    except AuthenticationUnavailableError as error:
        answer.resolve(b"", Reason.AUTHENTICATION_UNAVAILABLE, str(error))
        return
    except Fault as fault:
        answer.resolve(b"", fault.reason, fault.detail)
        return
    except BaseException:
        answer.resolve(b"", Reason.INTERNAL_ERROR)
        raise
    finally:
        again.answer = None
    if step.refusal:
        at.audit(context, login.mechanism, step.refusal)
        await trio.sleep(REFUSAL_DELAY)
        answer.resolve(step.frame, Reason.AUTHENTICATION_FAILED, f"{login.mechanism}: {step.refusal}")
        return
    if step.principal is not None:
        again.login, context.session_ends = None, time.monotonic() + step.seconds
        at.audit(context, login.mechanism, None)
    answer.resolve(step.frame)


def _same_principal(context: Context, login: Login, frame: bytes, step: LoginStep) -> LoginStep:
    """Return the step; another principal than before is refused, as by a broker."""
    if step.principal is None or step.principal == context.principal:
        return step
    header, _ = decode_request_header(frame, 0, len(frame))
    return login.refused(header, f"it was {context.principal}, and now proves to be {step.principal}")


def policies(at: Authenticating) -> Mapping[int, ApiPolicy]:
    """Return the policies by api key."""
    return MappingProxyType(
        {
            ApiKey.SASL_HANDSHAKE: ApiPolicy(
                on_request=OnRequest.WHOLE,
                request=partial(shake, at),
                request_limit=MOST_BYTES,
                refuse_below=1,
                own=(0, 1),
                alone=True,
            ),
            ApiKey.SASL_AUTHENTICATE: ApiPolicy(
                on_request=OnRequest.WHOLE,
                request=partial(say, at),
                request_limit=MOST_BYTES,
                own=(0, 2),
                alone=True,
            ),
        }
    )
