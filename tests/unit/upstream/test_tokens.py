"""kproxy.upstream.tokens: one fetch for all who ask, renewal in time, back-off, and what goes wrong at an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from kproxy.config.client_credentials import ClientCredentials
from kproxy.upstream import tokens
from kproxy.upstream.client_credentials import Token, TokenError
from kproxy.upstream.tokens import TokenCache, fetch
from tests.support.authorization_server import (
    CLIENT,
    CLIENT_SECRET,
    AuthorizationServer,
    authorization_server,
)

SETTINGS = ClientCredentials.model_validate(
    {"token_endpoint": "http://127.0.0.1:1/t", "client_id": "a", "client_secret": "hunter2-hunter2"}
)


class Endpoint:
    """Stands in for the network in these tests of time: each fetch takes a second, and ends as `outcomes` say."""

    def __init__(self) -> None:
        self.fetches = 0
        self.outcome: Callable[[int], Token] = lambda number: Token(f"t{number}", 100)

    async def fetch(self, settings: ClientCredentials) -> Token:
        self.fetches += 1
        number = self.fetches
        await trio.sleep(1)
        return self.outcome(number)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The endpoint in place of all others."""
    found = Endpoint()
    monkeypatch.setattr(tokens, "fetch", found.fetch)
    return found


def away(_: int) -> Token:
    """The endpoint is out of reach."""
    raise TokenError("away")


async def test_one_fetch_for_all(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """Those who come meanwhile wait for it; those after it have the token at once."""
    cache, found = TokenCache(), []

    async def ask() -> None:
        found.append(await cache.token(SETTINGS, nursery))

    async with trio.open_nursery() as several:
        for _ in range(50):
            several.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        assert cache.fetching
    assert (set(found), endpoint.fetches, cache.fetching) == ({"t1"}, 1, False)
    assert await cache.token(SETTINGS, nursery) == "t1"


async def test_renewal(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """At 80 % of its lifetime (by this dice) the next is fetched, for which nobody waits; others have their own."""
    cache = TokenCache(rand=lambda: 0.5)
    assert await cache.token(SETTINGS, nursery) == "t1"
    await trio.sleep(78)
    assert await cache.token(SETTINGS, nursery) == "t1"
    await trio.sleep(1)
    assert await cache.token(SETTINGS, nursery) == "t1"
    await trio.sleep(2)
    assert await cache.token(SETTINGS, nursery) == "t2"
    assert await cache.token(SETTINGS.model_copy(update={"scope": "s"}), nursery) == "t3"


async def test_an_unknown_lifetime(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """It is for those who wait for it."""
    endpoint.outcome = lambda number: Token(f"t{number}", 0)
    cache = TokenCache()
    assert [await cache.token(SETTINGS, nursery) for _ in range(2)] == ["t1", "t2"]


async def test_an_endpoint_that_is_away(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """All who wait fail with its error; it is let be for a while, longer each time; then it is asked again."""
    endpoint.outcome = away
    cache, errors = TokenCache(rand=lambda: 0.999), []

    async def ask() -> None:
        try:
            await cache.token(SETTINGS, nursery)
        except TokenError as error:
            errors.append(str(error))

    async with trio.open_nursery() as several:
        for _ in range(3):
            several.start_soon(ask)
    await ask()
    assert (errors, endpoint.fetches) == (["away"] * 4, 1)
    for _ in range(200):
        await trio.sleep(0.5)
        await ask()
    assert 6 <= endpoint.fetches <= 9
    endpoint.outcome = lambda number: Token("back", 100)
    await trio.sleep(31)
    assert await cache.token(SETTINGS, nursery) == "back"


async def test_no_renewal(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """The token in hand is used to its end, not longer, while the endpoint brings no other."""
    cache = TokenCache(rand=lambda: 0.5)
    await cache.token(SETTINGS, nursery)
    endpoint.outcome = away
    await trio.sleep(85)
    for _ in range(3):
        assert await cache.token(SETTINGS, nursery) == "t1"
        await trio.testing.wait_all_tasks_blocked()
    assert endpoint.fetches == 2
    await trio.sleep(15)
    with pytest.raises(TokenError, match="away"):
        await cache.token(SETTINGS, nursery)


async def test_the_last_seconds(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """The next token is waited for, since a broker may find that this one has ended; without one it is still used."""
    cache = TokenCache(rand=lambda: 0.5)
    assert await cache.token(SETTINGS, nursery) == "t1"
    await trio.sleep(97.5)  # it was asked for a second before
    assert await cache.token(SETTINGS, nursery) == "t2"
    endpoint.outcome = away
    await trio.sleep(97.5)
    assert await cache.token(SETTINGS, nursery) == "t2"
    assert endpoint.fetches == 3


async def test_an_endpoint_that_hangs(
    endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for it while there is a token that has not ended: a poll has three seconds for a broker."""
    cache = TokenCache(rand=lambda: 0.5)
    await cache.token(SETTINGS, nursery)

    async def hangs(settings: object) -> Token:
        await trio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(tokens, "fetch", hangs)
    await trio.sleep(85)
    for _ in range(3):
        with trio.fail_after(1):
            assert await cache.token(SETTINGS, nursery) == "t1"
    cache.refused("t1")
    with trio.move_on_after(5) as waited:
        await cache.token(SETTINGS, nursery)
    assert waited.cancelled_caught, "one that a broker has refused is of no use"
    nursery.cancel_scope.cancel()


async def test_a_token_that_is_refused(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """A new one is kept for 30 s, an older one is fetched anew; what is not in hand changes nothing."""
    cache = TokenCache()
    await cache.token(SETTINGS, nursery)
    cache.refused("another")
    cache.refused("t1")
    await trio.sleep(20)
    assert await cache.token(SETTINGS, nursery) == "t1"
    await trio.sleep(10)
    assert await cache.token(SETTINGS, nursery) == "t2"


async def test_a_caller_that_gives_up(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """The fetch goes on for the next one; one whose nursery ends is begun anew by who still waits."""
    cache, found = TokenCache(), []
    with trio.move_on_after(0.5):
        await cache.token(SETTINGS, nursery)
    assert await cache.token(SETTINGS, nursery) == "t1"
    other = SETTINGS.model_copy(update={"scope": "s"})

    async def ask() -> None:
        found.append(await cache.token(other, nursery))

    async with trio.open_nursery() as waiting, trio.open_nursery() as ending:
        ending.start_soon(cache.token, other, ending)
        await trio.testing.wait_all_tasks_blocked()
        waiting.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        ending.cancel_scope.cancel()
    assert (found, endpoint.fetches) == (["t3"], 3)


async def test_settings_that_change(endpoint: Endpoint, nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    """Who asked before gets what was asked for; it does not become the token of the new settings."""
    cache, found = TokenCache(), []

    async def ask(settings: ClientCredentials) -> None:
        try:
            found.append(await cache.token(settings, nursery))
        except TokenError as error:
            found.append(str(error))

    for outcome in (lambda number: Token(f"t{number}", 100), away):
        endpoint.outcome = outcome
        async with trio.open_nursery() as several:
            several.start_soon(ask, SETTINGS)
            await trio.sleep(0.5)
            several.start_soon(ask, SETTINGS.model_copy(update={"scope": "s"}))
    assert found[:2] == ["t1", "t2"]
    assert found[2:] == ["away", "away"]


@pytest.fixture
def server() -> Iterator[AuthorizationServer]:
    """A real one, over plain HTTP."""
    with authorization_server() as found:
        yield found


def settings(server: AuthorizationServer, **changed: Any) -> ClientCredentials:
    """kproxy's settings for it."""
    own = {"token_endpoint": f"{server.issuer}/t", "client_id": CLIENT, "client_secret": CLIENT_SECRET}
    return ClientCredentials.model_validate(own | changed)


async def test_a_real_endpoint(server: AuthorizationServer, tmp_path: Path) -> None:
    """By header, by body, with a secret from a file."""
    file = tmp_path / "secret"
    file.write_text(CLIENT_SECRET + "\n")
    for changed in (
        {},
        {"client_authentication": "client_secret_post"},
        {"client_secret": None, "client_secret_file": str(file)},
    ):
        token = await fetch(settings(server, **changed))
        assert (token.value.count("."), token.lifetime) == (2, 3600)


async def test_what_goes_wrong(server: AuthorizationServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each error says where and why: the server, its name, files, size, time, TLS."""

    async def error(**changed: Any) -> str:
        with pytest.raises(TokenError) as caught:
            await fetch(settings(server, **changed))
        return str(caught.value).removeprefix(f"{server.issuer}/t: ")

    assert await error(client_secret="wrong-wrong") == (
        "it answers 401 invalid_client (no client has ('kproxy', '**********')); "
        "check client_id, the client's secret, scope and audience"
    )
    missing = str(tmp_path / "missing")
    wanted = f"{missing} cannot be used: no such file or directory"
    assert await error(client_secret=None, client_secret_file=missing) == wanted
    assert "cannot connect: connection refused" in await error(token_endpoint="http://127.0.0.1:1/t")
    secure = server.issuer.replace("http:", "https:") + "/t"
    assert "the peer does not speak TLS at this port" in await error(token_endpoint=secure)
    assert "client_credentials.ca: " in await error(token_endpoint=secure, ca=missing)
    server.refuses = 200, {"access_token": "x" * 70_000}
    assert "more than 65536 bytes" in await error()
    server.delay = 0.3
    monkeypatch.setattr(tokens, "FETCH_SECONDS", 0.05)
    assert "no token within 0.05 s" in await error()
