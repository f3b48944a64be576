"""kproxy's own OAUTHBEARER tokens: fetched from the token endpoint, kept until shortly before they end.

`open_session` asks a `TokenCache` for the token of each connection that authenticates by client credentials.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.errors import ConfigError, bare_reason
from kproxy.upstream.attempts import full_jitter
from kproxy.upstream.client_credentials import Token, TokenError, token_of, token_request
from kproxy.upstream.secret_file import secret_in

if TYPE_CHECKING:
    from kproxy.config.client_credentials import ClientCredentials

FETCH_SECONDS: Final = 10.0
"""The deadline of a fetch as a whole: name, TCP, TLS, request and answer."""
_LARGEST_ANSWER: Final = 64 * 2**10
_BACKOFF: Final = 0.5
_LONGEST_BACKOFF: Final = 30.0
_YOUNG: Final = 30.0
"""Seconds after its fetch in which a token that a broker refuses is not fetched anew: the next one would be alike."""
_LAST: Final = 2.0
"""Seconds before its end in which the next token is waited for: servers round a token's end down to a whole second
(`exp`, RFC 7519), and by the time that a broker looks at it another one may have passed."""

log = structlog.get_logger("kproxy.upstream")


@dataclass(slots=True)
class _Flight:
    """A fetch under way; `error` says why it brought no token, None before its end and when it brought one."""

    done: trio.Event = field(default_factory=trio.Event)
    token: str | None = None
    error: TokenError | None = None


class TokenCache:
    """The present token of one identity. Connections that ask at once share one fetch and its outcome.

    A token that is about to end is renewed when the next connection asks, which does not wait for that: the token in
    hand is used until its last seconds, unless a broker has refused it. When the endpoint brings none, it is asked
    again with back-off, and the token in hand is used until its end.
    """

    def __init__(self, rand: Callable[[], float] = random.random) -> None:
        self._rand = rand
        self._settings: ClientCredentials | None = None
        self._forget()

    def _forget(self) -> None:
        self._token: str | None = None
        self._is_refused = False
        """Whether a broker has refused the token in hand."""
        self._fetched_at = self._renew_at = self._ends_at = -inf
        self._flight: _Flight | None = None
        self._failures = 0  # in a row
        self._retry_at = -inf
        self._error = TokenError("")

    @property
    def fetching(self) -> bool:
        """True while a fetch is under way."""
        return self._flight is not None

    async def token(self, settings: ClientCredentials, nursery: trio.Nursery) -> str:
        """Return a token that has not ended. A fetch runs in `nursery`, and goes on when its caller is cancelled.

        Raises TokenError.
        """
        if settings != self._settings:
            self._settings = settings
            self._forget()
        while (usable := self._usable(trio.current_time())) is None:
            if self._flight is None:
                self._flight = _Flight()
                nursery.start_soon(self._fetch, settings, self._flight)
            if self._token is not None and trio.current_time() < self._ends_at - _LAST and not self._is_refused:
                return self._token
            flight = self._flight
            await flight.done.wait()
            if flight.token is not None:
                return flight.token
            if flight.error is not None and self._usable(trio.current_time()) is None:
                raise TokenError(str(flight.error))  # a new object, since several tasks raise it
        return usable

    def refused(self, token: str) -> None:
        """Note that a broker refuses a token: another one is fetched, if this one is not quite new."""
        if token == self._token:
            self._is_refused = True
            self._renew_at = min(self._renew_at, self._fetched_at + _YOUNG)

    def _usable(self, now: float) -> str | None:
        """Return the token in hand, if it is not to be renewed now; raise TokenError while the endpoint is let be."""
        in_hand = self._token if now < self._ends_at else None
        if now < self._renew_at:
            return in_hand
        if now < self._retry_at:
            if in_hand is None:
                raise TokenError(str(self._error))
            return in_hand
        return None

    async def _fetch(self, settings: ClientCredentials, flight: _Flight) -> None:
        asked = trio.current_time()
        try:
            token = await fetch(settings)
        except TokenError as error:
            flight.error = error
            if flight is self._flight:
                self._failed(error)
        else:
            flight.token = token.value
            if flight is self._flight:
                self._take(token, asked)
        finally:  # also when it is cancelled: then a caller that goes on fetches itself
            if flight is self._flight:
                self._flight = None
            flight.done.set()

    def _take(self, token: Token, asked: float) -> None:
        self._token, self._fetched_at, self._is_refused = token.value, asked, False
        self._renew_at, self._ends_at = asked + token.renewed_after(self._rand()), asked + token.lifetime
        self._failures, self._retry_at = 0, -inf
        assert self._settings is not None
        log.info("token fetched", token_endpoint=self._settings.endpoint.where, lifetime=token.lifetime)

    def _failed(self, error: TokenError) -> None:
        now = trio.current_time()
        self._failures, self._error = self._failures + 1, error
        self._retry_at = now + full_jitter(self._failures, self._rand(), base=_BACKOFF, cap=_LONGEST_BACKOFF)
        if now < self._ends_at:
            log.warning("token not renewed", reason=str(error), ends_in=round(self._ends_at - now, 1))


async def fetch(settings: ClientCredentials) -> Token:
    """Return a new token from the token endpoint, within `FETCH_SECONDS`. Raises TokenError."""
    where = settings.endpoint.where
    try:
        with trio.fail_after(FETCH_SECONDS):
            return await _fetched(settings)
    except trio.TooSlowError:
        raise TokenError(f"{where}: no token within {FETCH_SECONDS:g} s; check its load and the network") from None
    except (OSError, ValueError, ConfigError) as error:
        raise TokenError(f"{where}: {bare_reason(error)}") from None
    except TokenError as error:
        raise TokenError(f"{where}: {error}") from None


async def _fetched(settings: ClientCredentials) -> Token:
    from kproxy.upstream.http import HttpError, client_of  # noqa: PLC0415 - h11, where no other room has it

    secret = await trio.to_thread.run_sync(_secret, settings)
    body, headers = token_request(settings, secret)
    try:
        async with client_of(settings.endpoint, settings.ca, "client_credentials", _LARGEST_ANSWER) as client:
            answer = await client.post(body, headers)
    except HttpError as error:
        raise TokenError(str(error).removeprefix(f"{settings.endpoint.where}: ")) from None
    if not answer.whole:
        raise TokenError(f"its answer has more than {_LARGEST_ANSWER} bytes; is this URL its token endpoint?")
    return token_of(answer.status, answer.body, secret)


def _secret(settings: ClientCredentials) -> str:
    """Return the secret, which may be in a file; raises ValueError."""
    if settings.client_secret is not None:
        return settings.client_secret.get_secret_value()
    assert settings.client_secret_file is not None, "the settings are checked"
    return secret_in(settings.client_secret_file)
