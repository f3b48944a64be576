"""OAUTHBEARER as kproxy answers it: a token is enough, a refusal takes two messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kproxy.authentication.authenticator import MOST_BYTES, OAUTHBEARER, read_authenticator
from kproxy.authentication.exchange import AuthenticationRefusedError, Exchange, Step
from kproxy.authentication.oauthbearer import ACKNOWLEDGED
from kproxy.config.authentication import Authentication
from kproxy.errors import ConfigError
from tests.unit.authentication.tokens import CLAIMS, NOW, jwk, key_set, message, signed


def settings(file: Path) -> Authentication:
    """Those of the tests' issuer, with its keys in a file."""
    tokens = {"issuer": CLAIMS["iss"], "audience": "kafka", "jwks_file": str(file)}
    return Authentication.model_validate({"mechanisms": [OAUTHBEARER], "oauthbearer": tokens})


async def no_turn(check: Callable[[], Step]) -> Step:
    """Tokens have no password that takes its turn."""
    raise AssertionError(check)


def begun(directory: Path) -> Exchange:
    """An exchange with a client, at the time of the tests' tokens."""
    file = directory / "keys"
    file.write_bytes(key_set(jwk("rsa")))
    authenticator = read_authenticator(settings(file), "a")
    assert authenticator.most_bytes == MOST_BYTES
    assert authenticator.tokens is not None
    authenticator.tokens._clock = lambda: NOW
    exchange = authenticator.begin(OAUTHBEARER, no_turn)
    assert exchange is not None
    return exchange


async def test_a_token_is_enough(tmp_path: Path) -> None:
    """It says who the client is, and for how long: to its end, and the skew that clocks may have."""
    step = await begun(tmp_path).step(message(signed()))
    assert (step.answer, step.principal) == (b"", "User:alice")
    assert step.seconds == CLAIMS["exp"] + 30 - NOW


async def test_a_refusal(tmp_path: Path) -> None:
    """The client is told why in JSON; whatever it says then, it is refused, and told the same."""
    for second in (ACKNOWLEDGED, b"", message(signed())):
        exchange = begun(tmp_path)
        step = await exchange.step(message(signed(exp=NOW - 3600)))
        assert (step.answer, step.principal) == (b'{"status":"invalid_token"}', None)
        with pytest.raises(AuthenticationRefusedError, match="the token ended 3600 s ago") as caught:
            await exchange.step(second)
        assert caught.value.told == '{"status":"invalid_token"}'


def test_a_file_of_keys_that_is_wrong(tmp_path: Path) -> None:
    """The configuration is refused, with the setting."""
    with pytest.raises(ConfigError, match=r"a\.oauthbearer\.jwks_file: .*No such file"):
        read_authenticator(settings(tmp_path / "keys"), "a")
