"""kproxy.cluster.token_keys: the keys that count at present are read, others no more."""

from __future__ import annotations

import trio

from kproxy.authentication.authenticator import Authenticator, read_authenticator
from kproxy.cluster.token_keys import TokenKeys
from kproxy.config.authentication import Authentication
from kproxy.observe.troubles import Troubles
from tests.support.authorization_server import AUDIENCE, AuthorizationServer, authorization_server
from tests.unit.upstream.scripted_broker import eventually


def of(server: AuthorizationServer, **changed: object) -> Authenticator:
    """What takes the server's tokens."""
    tokens = {"issuer": server.issuer, "audience": AUDIENCE, "jwks_url": f"{server.issuer}/keys"}
    asked = {"mechanisms": ["OAUTHBEARER"], "oauthbearer": tokens | changed}
    return read_authenticator(Authentication.model_validate(asked), "a")


async def test_a_reload() -> None:
    """The same issuer's keys are kept until they are read again, another one's are not; without one none are read."""
    keys = TokenKeys(Troubles())

    def lack() -> bool:
        return keys.lacking

    with authorization_server() as server:
        first = of(server)
        keys.follow(first)
        assert lack()
        async with trio.open_nursery() as nursery:
            keys.start(nursery)
            await eventually(lambda: not lack(), "the keys are read")
            server.key_set_status = 503
            same = of(server)
            keys.follow(same)
            assert same.tokens is not None
            await eventually(lambda: same.tokens is not None and same.tokens.failed_reads == 1, "they are sought")
            assert not lack()
            keys.follow(of(server, audience="other"))
            assert lack()
            keys.follow(Authenticator((), first._users, None))
            assert not lack()
            keys.follow(None)
            assert not lack()
            nursery.cancel_scope.cancel()
