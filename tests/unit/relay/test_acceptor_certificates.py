"""Admitting clients whose certificates say who they are: what counts is what their handshake has asked them for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import pytest
import trio

from kproxy.authentication.authenticator import Authenticator
from kproxy.authentication.certificate_rules import CertificateRules
from kproxy.cluster.policies import composed
from kproxy.config.authentication import CertificateRule
from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.relay.apis.reauthentication import policies
from kproxy.upstream.tls import BrokerContext, ServerContext, shake_hands
from tests.support.authority import Authority
from tests.unit.relay.sockets import eventually, request
from tests.unit.relay.test_acceptor import Listener, open_acceptor
from tests.unit.relay.test_unauthenticated import PLAIN, RIGHT, USERS, TlsPeer, say, shake

SASL = Authenticator((PLAIN,), USERS, None)
CERTIFICATES = Authenticator(
    (), USERS, None, certificates=CertificateRules([CertificateRule(subject="(?:CN=)?(.*)", principal="by-rule-$1")])
)
"""The rule is for any subject, an empty one as well."""
NOBODY = "mTLS: it has shown no certificate that could be verified"


@dataclass(frozen=True)
class Ends:
    """What kproxy shows, and what clients do: `asking` is for a certificate; `named` has one, and `bare` has none."""

    plain: ServerContext
    asking: ServerContext
    named: BrokerContext
    bare: BrokerContext


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    authority = Authority(tmp_path_factory.mktemp("tls"))
    kproxy, client = authority.signed("kproxy"), authority.signed("carla")
    ca, chain, key = str(authority.file), str(kproxy.chain), str(kproxy.key)
    named = UpstreamTls(ca=ca, certificate=str(client.chain), key=str(client.key))
    return Ends(
        ServerContext(ClientTls(certificate=chain, key=key), "tls"),
        ServerContext(ClientTls(certificate=chain, key=key, client_ca=ca), "tls"),
        BrokerContext(named, "client"),
        BrokerContext(UpstreamTls(ca=ca), "client"),
    )


@asynccontextmanager
async def asking(tls: ServerContext | None, by: Authenticator) -> AsyncIterator[Listener]:
    """An acceptor whose clients authenticate to kproxy."""
    async with open_acceptor() as opened:
        backend = opened.backend
        backend.table = ApiTable(backend.counters, composed(backend, {}, None, sasl=policies(backend)))
        backend.tls, backend.authenticator = tls, by
        yield opened


async def came(opened: Listener, context: BrokerContext) -> TlsPeer:
    """Return a client that has shaken hands, and said nothing yet."""
    client = TlsPeer(context.wrap(opened.come().sock, "localhost"))
    await shake_hands(client.sock, partial(trio.lowlevel.wait_readable, client.sock))
    return client


async def principal(opened: Listener) -> str | None:
    """Return whom the only client that is let in is taken for."""
    await eventually(lambda: bool(opened.pump.connections), "a client that is let in")
    (connection,) = opened.pump.connections.values()
    return connection.context.principal


async def test_a_client_with_a_certificate(ends: Ends) -> None:
    """It is whom the rules make of its subject."""
    async with asking(ends.asking, CERTIFICATES) as opened:
        client = await came(opened, ends.named)
        await client.send(request(1))
        assert await principal(opened) == "User:by-rule-carla"
        await client.close()


async def test_a_client_that_was_asked_for_no_certificate(ends: Ends) -> None:
    """It is nobody, though a rule is for an empty subject; so is one without TLS, and one whose own was not checked."""
    for context in (ends.bare, ends.named):
        async with asking(ends.plain, CERTIFICATES) as opened:
            client = await came(opened, context)
            await client.send(request(1))
            await opened.ended(Reason.AUTHENTICATION_FAILED)
            assert opened.backend.refused == [(Reason.AUTHENTICATION_FAILED, NOBODY)]
            assert opened.broker.nobody_came()
            await client.close()
    async with asking(None, CERTIFICATES) as opened:
        await opened.come().send(request(1))
        await opened.ended(Reason.AUTHENTICATION_FAILED)
        assert opened.backend.refused == [(Reason.AUTHENTICATION_FAILED, NOBODY)]


async def test_a_reload_to_certificates_while_a_client_waits(ends: Ends) -> None:
    """A client that was asked for no certificate when it came is nobody, and must come again."""
    async with asking(ends.plain, SASL) as opened:
        client = await came(opened, ends.bare)
        opened.backend.tls, opened.backend.authenticator = ends.asking, CERTIFICATES
        await client.send(request(1))
        await opened.ended(Reason.AUTHENTICATION_FAILED)
        assert opened.broker.nobody_came()
        await client.close()


async def test_other_users_while_a_client_waits(ends: Ends) -> None:
    """The present ones count: one that was removed meanwhile is not let in."""
    async with asking(ends.plain, CERTIFICATES) as opened:
        opened.backend.authenticator = None
        client = await came(opened, ends.bare)
        opened.backend.authenticator = SASL
        await client.send(b"".join((shake(), say(RIGHT))))
        assert await principal(opened) == "User:carol"
        await client.close()


async def test_a_reload_to_sasl_while_a_client_waits(ends: Ends) -> None:
    """Its certificate was verified for the rules that were there."""
    async with asking(ends.asking, CERTIFICATES) as opened:
        client = await came(opened, ends.named)
        opened.backend.tls, opened.backend.authenticator = ends.plain, SASL
        await client.send(request(1))
        assert await principal(opened) == "User:by-rule-carla"
        await client.close()
