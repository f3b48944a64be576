"""An issuer's keys, from a file or a URL: read again at an interval, and at once for a token that none has signed.

Each virtual cluster whose clients authenticate by OAUTHBEARER has a `TokenVerifier`: it `run`s, and `Bearer` calls
`verify` for each client.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.authentication.exchange import AuthenticationUnavailableError
from kproxy.authentication.key_set import KeySet, KeySetError, parse_key_set
from kproxy.authentication.oauthbearer import UnknownKeyError, Verified, check_message
from kproxy.errors import ConfigError
from kproxy.upstream.http import HttpError, client_of

if TYPE_CHECKING:
    from kproxy.config.oauthbearer import OAuthBearer
    from kproxy.config.url import Url

FETCH_SECONDS: Final = 10.0
"""The deadline of a fetch as a whole: name, TCP, TLS, request and answer."""
SHORTEST: Final = 10.0
"""Seconds between two reads that such tokens cause: whoever makes them up causes no more."""
_LARGEST: Final = 512 * 2**10
_JITTER: Final = 0.1

log = structlog.get_logger("kproxy.authentication")


class TokenVerifier:
    """Verifies clients' tokens with the issuer's keys as last read. A read that fails changes nothing."""

    def __init__(
        self,
        settings: OAuthBearer,
        *,
        rand: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock` gives seconds since the Unix epoch."""
        self.keys = KeySet()
        """The keys as last read; none before the first read."""
        self.settings = settings
        """Which tokens are accepted."""
        self._rand = rand
        self._clock = clock
        self._where = settings.jwks_file if settings.endpoint is None else settings.endpoint.where
        self._reading = trio.Lock()
        self._read_at = -inf
        self.reads = 0
        """Reads of the keys that were begun."""
        self.failed_reads = 0

    def seconds_left(self, verified: Verified) -> float:
        """Return for how long a token counts, as far as the issuer's clock may be from kproxy's."""
        return max(0.0, verified.expires_at + self.settings.clock_skew - self._clock())

    async def run(self) -> None:
        """Read the keys, and again at each interval, sooner while there are none; until cancelled."""
        while True:
            async with self._reading:
                await self._read_again()
            pause = self.settings.jwks_refresh if self.keys.keys else SHORTEST
            await trio.sleep(pause * (1 - _JITTER * self._rand()))

    async def verify(self, message: bytes) -> Verified:
        """Return who a client is by its first OAUTHBEARER message.

        For a token that none of the keys has signed they are read again, if that was not done just before. Raises
        TokenRefusedError, and AuthenticationUnavailableError where no keys were ever read.
        """
        if not self.keys.keys:
            await self._look_again()
        if not self.keys.keys:
            raise AuthenticationUnavailableError(f"the keys of tokens are not known: {self._where} does not give them")
        try:
            return check_message(message, self.keys, self.settings, self._clock())
        except UnknownKeyError:
            await self._look_again()
        return check_message(message, self.keys, self.settings, self._clock())

    async def _look_again(self) -> None:
        """Read the keys, unless that was done shortly before; wait for a read that is under way."""
        asked = trio.current_time()
        async with self._reading:
            if self._read_at < asked - SHORTEST:
                await self._read_again()

    async def problem(self) -> str:
        """Read the keys; return why they cannot be had, "" when they are there."""
        try:
            await self._read()
        except KeySetError as error:
            return str(error)
        return ""

    async def _read_again(self) -> None:
        try:
            await self._read()
        except KeySetError as error:
            self.failed_reads += 1
            self._read_at = trio.current_time()  # else tokens of made-up keys keep a read under way where one hangs
            log.warning("keys of tokens not read again, those from before stay", reason=str(error))

    async def _read(self) -> None:
        self._read_at, self.reads = trio.current_time(), self.reads + 1
        text = await read_keys(self.settings)
        try:
            keys = await trio.to_thread.run_sync(parse_key_set, text)
        except KeySetError as error:
            raise KeySetError(f"{self._where}: {error}") from None
        if keys != self.keys:
            log.info("keys of tokens read", keys=[key.key_id for key in keys.keys])
        self.keys = keys


async def read_keys(settings: OAuthBearer) -> bytes:
    """Return the key set's text; raises KeySetError with the place and the reason."""
    url = settings.endpoint
    if url is None:
        assert settings.jwks_file is not None, "the settings are checked"
        return await trio.to_thread.run_sync(_of_file, settings.jwks_file)
    try:
        with trio.fail_after(FETCH_SECONDS):
            return await _fetched(url, settings.ca)
    except trio.TooSlowError:
        raise KeySetError(
            f"{url.where}: no answer within {FETCH_SECONDS:g} s; check its load and the network"
        ) from None
    except (HttpError, ConfigError) as error:
        raise KeySetError(str(error)) from None


async def _fetched(url: Url, ca: str | None) -> bytes:
    async with client_of(url, ca, "oauthbearer", _LARGEST) as client:
        answer = await client.get({"Accept": "application/jwk-set+json, application/json"})
    if answer.status != 200:
        raise KeySetError(f"{url.where}: it answers {answer.status}; check the URL and its log")
    if not answer.whole:
        raise KeySetError(f"{url.where}: its answer has more than {_LARGEST} bytes")
    return answer.body


def keys_of_file(name: str, key: str) -> KeySet:
    """Return the keys in a file, which the setting `key` names. Blocks; raises ConfigError."""
    try:
        return parse_key_set(_of_file(name))
    except KeySetError as error:
        why = str(error)
        raise ConfigError(key, why if why.startswith(f"{name}: ") else f"{name}: {why}") from None


def _of_file(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            text = file.read(_LARGEST + 1)
    except OSError as error:
        raise KeySetError(f"{name}: {error.strerror or error}") from None
    if len(text) > _LARGEST:
        raise KeySetError(f"{name}: it has more than {_LARGEST} bytes")
    return text
