"""kproxy.authentication.jwks: keys from real files and servers, which change, are away, or are wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio

from kproxy.authentication import jwks
from kproxy.authentication.exchange import AuthenticationUnavailableError
from kproxy.authentication.jwks import TokenVerifier, keys_of_file
from kproxy.authentication.key_set import KeySetError
from kproxy.authentication.oauthbearer import TokenRefusedError, UnknownKeyError
from kproxy.config.oauthbearer import OAuthBearer
from kproxy.errors import ConfigError
from tests.support.authorization_server import AUDIENCE, AuthorizationServer, authorization_server
from tests.unit.authentication.tokens import CLAIMS, NOW, jwk, key_set, message, signed
from tests.unit.telemetry.receivers.certificates import Authority
from tests.unit.upstream.scripted_broker import eventually


@pytest.fixture
def server() -> Iterator[AuthorizationServer]:
    """A real one, over plain HTTP."""
    with authorization_server() as found:
        yield found


def of_server(server: AuthorizationServer, **changed: Any) -> TokenVerifier:
    """The verifier of the server's tokens."""
    own = {"issuer": server.issuer, "audience": AUDIENCE, "jwks_url": f"{server.issuer}/keys"}
    return TokenVerifier(OAuthBearer.model_validate(own | changed))


def of_file(file: Path, **changed: Any) -> TokenVerifier:
    """The verifier of tokens by the keys in a file."""
    settings = OAuthBearer.model_validate({"issuer": CLAIMS["iss"], "audience": "kafka", "jwks_file": str(file)})
    settings = settings.model_copy(update=changed)  # also to what no file may say
    return TokenVerifier(settings, rand=lambda: 0.0, clock=lambda: NOW)


async def problem(verifier: TokenVerifier) -> str:
    """Why no client can be authenticated: what the log says about the keys."""
    with structlog.testing.capture_logs() as logs, pytest.raises(AuthenticationUnavailableError):
        await verifier.verify(b"")
    (line,) = logs
    return str(line["reason"])


async def load(verifier: TokenVerifier) -> None:
    """Have the keys read for the first time, as a client's message does."""
    with pytest.raises(TokenRefusedError):
        await verifier.verify(b"")
    assert verifier.keys.keys


async def test_a_token_of_a_real_server(server: AuthorizationServer) -> None:
    """Its keys are fetched once, for all clients."""
    verifier = of_server(server)
    await load(verifier)
    for _ in range(3):
        found = await verifier.verify(message(server.token(sub="alice")))
        assert found.principal == "alice"
        assert found.expires_at == pytest.approx(time.time() + 3600, abs=5)
    assert server.fetched_keys == 1


async def test_a_new_key(server: AuthorizationServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One fetch for all whose key is unknown; made-up keys cause no more within 10 s."""
    verifier = of_server(server)
    await load(verifier)
    server.rotate("second")
    with pytest.raises(UnknownKeyError, match="of the key 'second'"):  # the keys were read just now
        await verifier.verify(message(server.token()))
    monkeypatch.setattr(jwks, "SHORTEST", 0.2)
    await trio.sleep(0.3)
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(verifier.verify, message(server.token()))
    assert server.fetched_keys == 2
    monkeypatch.setattr(jwks, "SHORTEST", 60)
    for number in range(20):
        with pytest.raises(UnknownKeyError):
            await verifier.verify(message(signed(headers={"kid": f"made-up-{number}"})))
    assert server.fetched_keys == 2


async def test_made_up_keys_while_the_server_hangs(
    server: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that fails counts from its end: else there would always be one that clients wait for."""
    verifier = of_server(server)
    await load(verifier)

    async def hangs(_: object) -> bytes:
        await trio.sleep(0.4)
        raise KeySetError("no answer")

    monkeypatch.setattr(jwks, "read_keys", hangs)
    monkeypatch.setattr(jwks, "SHORTEST", 0.3)
    await trio.sleep(0.4)
    for number in range(3):
        with pytest.raises(UnknownKeyError):
            await verifier.verify(message(signed(headers={"kid": f"made-up-{number}"})))
    assert (verifier.reads, verifier.failed_reads) == (2, 1)


async def read_again(verifier: TokenVerifier) -> None:
    """Wait until a read has begun and ended since."""
    begun = verifier.reads
    await eventually(lambda: verifier.reads >= begun + 2, "the keys are read again")


async def test_keys_are_read_again(tmp_path: Path) -> None:
    """At each interval; a wrong file changes nothing, a key that is gone counts no more."""
    file = tmp_path / "keys"
    file.write_bytes(key_set(jwk("rsa"), jwk("ES256")))
    verifier = of_file(file, jwks_refresh=0.02)
    await load(verifier)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(verifier.run)
        await read_again(verifier)
        assert verifier.failed_reads == 0
        for content in (b'{"keys": [', b"", key_set()):
            failed = verifier.failed_reads
            file.write_bytes(content)
            await read_again(verifier)
            assert verifier.failed_reads > failed
            assert (await verifier.verify(message(signed()))).principal == "alice"
        file.write_bytes(key_set(jwk("ES256")))
        await read_again(verifier)
        with pytest.raises(UnknownKeyError):
            await verifier.verify(message(signed()))
        assert (await verifier.verify(message(signed("ES256")))).principal == "alice"
        nursery.cancel_scope.cancel()


async def test_a_server_that_goes_away(server: AuthorizationServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients of known keys go on; one of an unknown key is refused, as if there had been no other read."""
    monkeypatch.setattr(jwks, "SHORTEST", 0)
    verifier = of_server(server)
    await load(verifier)
    good = message(server.token())
    server.issuer_key_set = b"<html>"
    server.rotate("second")
    with pytest.raises(UnknownKeyError):
        await verifier.verify(message(server.token()))
    assert verifier.failed_reads == 1
    assert (await verifier.verify(good)).principal == server.subject
    with pytest.raises(TokenRefusedError, match="is not OAUTHBEARER's"):
        await verifier.verify(b"")


async def test_what_goes_wrong_at_the_start(
    server: AuthorizationServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of the log says where and why."""
    file = tmp_path / "keys"
    assert await problem(of_file(file)) == f"{file}: No such file or directory"
    file.write_bytes(bytes(600_000))
    assert "has more than 524288 bytes" in await problem(of_file(file))
    file.write_bytes(b"{}")
    assert await problem(of_file(file)) == f"{file}: it is no JWK set: it has no list `keys`"
    where = f"{server.issuer}/keys: "
    server.issuer_key_set = b"x" * 600_000
    assert await problem(of_server(server)) == f"{where}its answer has more than 524288 bytes"
    server.key_set_status = 404
    assert await problem(of_server(server)) == f"{where}it answers 404; check the URL and its log"
    assert "cannot connect: connection refused" in await problem(of_server(server, jwks_url="http://127.0.0.1:1/"))
    secure = server.issuer.replace("http:", "https:")
    assert "client_credentials" not in await problem(of_server(server, jwks_url=secure, ca="/missing"))
    server.delay = 0.3
    monkeypatch.setattr(jwks, "FETCH_SECONDS", 0.05)
    assert await problem(of_server(server)) == f"{where}no answer within 0.05 s; check its load and the network"


def test_a_file_at_the_start(tmp_path: Path) -> None:
    """It is read before any client comes; an error names the setting, and the file once."""
    file = tmp_path / "keys"
    with pytest.raises(ConfigError) as caught:
        keys_of_file(str(file), "a.jwks_file")
    assert str(caught.value) == f"a.jwks_file: {file}: No such file or directory"
    file.write_bytes(b"{}")
    with pytest.raises(ConfigError) as caught:
        keys_of_file(str(file), "a.jwks_file")
    assert str(caught.value) == f"a.jwks_file: {file}: it is no JWK set: it has no list `keys`"
    file.write_bytes(key_set(jwk("rsa")))
    assert len(keys_of_file(str(file), "a.jwks_file").keys) == 1


async def test_a_server_that_comes_late(server: AuthorizationServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then nobody is refused for good; the keys are sought in short order, and clients that come wait for it."""
    monkeypatch.setattr(jwks, "SHORTEST", 0.05)
    server.key_set_status = 503
    verifier = of_server(server)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(verifier.run)
        await eventually(lambda: verifier.failed_reads >= 2, "the keys are sought again")
        with pytest.raises(AuthenticationUnavailableError, match="the keys of tokens are not known"):
            await verifier.verify(message(server.token()))
        server.key_set_status = 200
        await eventually(lambda: bool(verifier.keys.keys), "the keys are known")
        assert (await verifier.verify(message(server.token(sub="alice")))).principal == "alice"
        nursery.cancel_scope.cancel()


async def test_https(tmp_path: Path) -> None:
    """Its certificate is checked, with the authorities of `ca`."""
    authority = await trio.to_thread.run_sync(Authority, tmp_path)
    with authorization_server(authority.server) as server:
        url = server.issuer.replace("127.0.0.1", "localhost")
        await load(of_server(server, jwks_url=url, ca=str(authority.file)))
        assert "its authority is not trusted" in await problem(of_server(server, jwks_url=url))


def test_nothing_else_imports_the_library() -> None:
    """What has no OAUTHBEARER does not pay for it: no module but the room's own imports PyJWT and cryptography."""
    root = Path(jwks.__file__).parents[1]
    users = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if any(
            line.startswith(("import jwt", "from jwt", "from cryptography")) for line in file.read_text().split("\n")
        )
    }
    assert users == {"authentication/key_set.py"}


@pytest.mark.parametrize("headers", [{}, {"kid": None}])
async def test_another_key_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headers: dict[str, Any]
) -> None:
    """A key that keeps its id, or has none: the keys are read once more before a token's signature is called wrong."""
    file = tmp_path / "keys"
    file.write_bytes(key_set(jwk("rsa-2048", kid="rsa")))
    verifier = of_file(file)
    await load(verifier)
    file.write_bytes(key_set(jwk("rsa")))
    with pytest.raises(UnknownKeyError, match="the token's signature is wrong"):  # the keys were read just now
        await verifier.verify(message(signed(headers=headers)))
    monkeypatch.setattr(jwks, "SHORTEST", 0.0)
    assert (await verifier.verify(message(signed(headers=headers)))).principal == "alice"
    assert verifier.reads == 2
