"""Six clients log in at kproxy in every way, and work; each is refused in every way, and its user is told.

There is one kproxy, with a virtual cluster for each kind of port, in front of a broker that it reaches by SASL_SSL and,
where clients come with certificates, one that it reaches by mTLS. A client is one process, which logs in in all ways.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from kproxy.authentication.users import credential, text_of
from tests.support.authority import Authority, Certificate
from tests.support.authorization_server import AUDIENCE, AuthorizationServer, authorization_server
from tests.support.backend import Backend
from tests.support.client import running
from tests.support.logins import CERTIFICATE, CLIENTS, FOREIGN, LOGINS, PLAINTEXT, REFUSALS, TLS, Login, command
from tests.support.proxy import Proxy
from tests.support.secured import PASSWORD, Secured, unsecured_token
from tests.support.wait import until

NAME: Final = "alice"
"""A user of the broker as well, by another password."""
OWN: Final = "known-to-kproxy-alone"
WRONG: Final = f"not-{OWN}"
COUNT: Final = 100
WHOLE: Final = {"acknowledged": COUNT, "consumed": COUNT, "missing": 0, "duplicates": 0, "wrong": 0}
INVISIBLE: Final = {"acknowledged": COUNT, "consumed": 0, "missing": COUNT, "duplicates": 0, "wrong": 0}
WORKED: Final = {"plain": WHOLE, "first": WHOLE, "aborted": INVISIBLE, "last": WHOLE, "committed": len("last")}
MARKS: Final = {
    "kafka_python": (pytest.mark.long,),
    "aiokafka": (pytest.mark.long,),
    "kafkajs": (pytest.mark.node,),
    "franz_go": (pytest.mark.go, pytest.mark.long),
}
"""The gate has Java, librdkafka and a third: what kproxy says is the same for all, and how they take it, by library."""
AT_THE_BROKER: Final = ("PLAIN", "SCRAM-SHA-256")
"""Mechanisms with which a wrong password is tried at the broker, too."""
IDENTITIES: Final = {"plaintext": "carol", "tls": "bob", "mtls": "CN=me"}
"""Who kproxy is to brokers: by OAUTHBEARER, by SCRAM-SHA-512, and by its certificate."""


@dataclass(frozen=True)
class Place:
    """What clients come to, and what they come with."""

    proxy: Proxy
    brokers: Mapping[str, Secured]
    """By virtual cluster."""
    authority: Authority
    foreign: Authority
    server: AuthorizationServer

    def security(self, login: Login, client_id: str, *, wrong: bool = False) -> dict[str, str]:
        """Return how a client logs in, rightly or not."""
        said = {"client_id": client_id}
        if login.cluster != "plaintext":
            said["ca"] = str(self.authority.file)
        if login == FOREIGN:
            return said | shown(self.foreign.signed(f"svc-{client_id}"))
        if login.by == CERTIFICATE:
            return said | shown(self.authority.signed(f"{'nobody' if wrong else 'svc'}-{client_id}"))
        said["mechanism"] = login.by
        if login.by == "OAUTHBEARER":
            return said | {"token": self.server.token(sub=NAME, aud="elsewhere" if wrong else AUDIENCE)}
        return said | {"username": NAME, "password": WRONG if wrong else OWN}


def shown(certificate: Certificate) -> dict[str, str]:
    """Return a certificate's files, as clients are told them, and kproxy."""
    return {"certificate": str(certificate.chain), "key": str(certificate.key)}


def users_file(directory: Path) -> str:
    """Write the file of kproxy's one user."""
    file = directory / "users"
    keys = [credential(mechanism, OWN, os.urandom(16), 4096) for mechanism in PLAINTEXT[1:]]
    file.write_text(text_of([(NAME, key) for key in keys]))
    return str(file)


def clusters(directory: Path, authority: Authority, server: AuthorizationServer) -> dict[str, dict[str, Any]]:
    """Return the settings of the virtual clusters."""
    users, token, tls = {"users_file": users_file(directory)}, directory / "token", shown(authority.signed("kproxy"))
    token.write_text(unsecured_token(IDENTITIES["plaintext"]))
    tokens = {"issuer": server.issuer, "audience": AUDIENCE, "jwks_url": f"{server.issuer}/keys"}
    rules = {"certificates": [{"subject": "CN=svc-(.+)", "principal": "$1"}]}
    trusted = {"ca": str(authority.file)}
    return {
        "plaintext": {
            "authentication": {"mechanisms": [*PLAINTEXT], **users, "dangerously_accept_secrets_without_tls": True},
            "identity": {"mechanism": "OAUTHBEARER", "token_file": str(token)},
            "upstream_tls": trusted,
        },
        "tls": {
            "tls": tls,
            "authentication": {"mechanisms": [*TLS], **users, "oauthbearer": tokens},
            "identity": {"mechanism": "SCRAM-SHA-512", "username": IDENTITIES["tls"], "password": PASSWORD},
            "upstream_tls": trusted,
        },
        "mtls": {
            "tls": {**tls, "client_ca": str(authority.file)},
            "authentication": rules,
            "upstream_tls": {**trusted, **shown(authority.signed("me"))},
        },
    }


@pytest.fixture(scope="module")
def place(
    broker: Secured, strict: Secured, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    """Yield a kproxy with its virtual clusters; its log must show no secret of a client."""
    directory, brokers = tmp_path_factory.mktemp("logins"), {"plaintext": broker, "tls": broker, "mtls": strict}
    servers, log = {name: one.bootstrap for name, one in brokers.items()}, {"format": "json", "level": "debug"}
    with authorization_server() as server:
        own = clusters(directory, authority, server)
        with Proxy(directory, servers, own=own, log=log) as proxy:
            proxy.hides(OWN, "a client's password")  # or the wrong one
            proxy.hides("eyJ", "what every token begins with")
            until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")
            yield Place(proxy, brokers, authority, Authority(directory, "foreign"), server)


@dataclass(frozen=True)
class Tried:
    """A client that has logged in in every way, and what it says of each."""

    client: str
    accepted: Mapping[str, Any]
    refused: Mapping[str, Mapping[str, str]]


@pytest.fixture(scope="module", params=[pytest.param(name, marks=MARKS.get(name, ())) for name in CLIENTS])
def tried(request: pytest.FixtureRequest, place: Place, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Have a client log in in every way, rightly and wrongly."""
    client, directory = str(request.param), tmp_path_factory.mktemp("client")
    orders = {"accepted": accepted(place, client), "refused": refused(place, client)}
    with running(command(client, **orders, directory=directory), directory) as process:
        return Tried(client, **process.result(240))


def accepted(place: Place, client: str) -> dict[str, Any]:
    """Return the orders of the logins that are right."""
    found = {}
    topics = {name: Backend(broker.cluster) for name, broker in place.brokers.items()}
    for login in LOGINS:
        name = f"{client}-{login.name}"
        where = {"bootstrap": place.proxy.bootstrap(login.cluster), "topic": topics[login.cluster].topic(1, 1)}
        work = {"group": name, "transactional_id": name, "count": COUNT}
        found[login.name] = {"security": place.security(login, name), **where, **work}
    return found


def refused(place: Place, client: str) -> dict[str, Any]:
    """Return the orders of those that are wrong, of them some at the broker itself."""
    found = {}
    for login in (*LOGINS, FOREIGN):
        security = place.security(login, f"wrong-{client}", wrong=True)
        found[login.name] = {"bootstrap": place.proxy.bootstrap(login.cluster), "security": security}
    for by in AT_THE_BROKER:
        found[f"broker-{by}"] = {**found[f"tls-{by}"], "bootstrap": place.brokers["tls"].bootstrap}
    return found


def test_it_works(tried: Tried) -> None:
    """In every way it produces, reads in a group, and commits and aborts transactions with offsets, byte for byte."""
    assert tried.accepted == dict.fromkeys((login.name for login in LOGINS), WORKED)


def test_who_it_is(tried: Tried, place: Place) -> None:
    """kproxy knows it by its user, token or certificate; to the broker it is the virtual cluster's identity."""
    for login in LOGINS:
        name = f"{tried.client}-{login.name}"
        ends = place.proxy.logged(event="connection ended", client_id=name)
        logged_in = [line for line in ends if "connection" in line]  # a client may end one before its login
        known = name if login.by == CERTIFICATE else NAME
        assert {line["principal"] for line in logged_in} == {f"User:{known}"}, login
        assert place.brokers[login.cluster].principals(name) == {f"User:{IDENTITIES[login.cluster]}"}, login


@pytest.mark.parametrize("login", [*LOGINS, FOREIGN], ids=lambda login: login.name)
def test_what_its_user_is_told(tried: Tried, login: Login) -> None:
    """It is refused with the error and the text that docs/authentication.md has."""
    told, found = REFUSALS[tried.client].of(login), tried.refused[login.name]
    assert found["kind"] == told.kind, found
    assert any(text in found["says"] for text in told.texts), found


@pytest.mark.parametrize("by", AT_THE_BROKER)
def test_the_broker_refuses_it_alike(tried: Tried, by: str) -> None:
    """A wrong password is the same error at kproxy as at the broker itself."""
    assert tried.refused[f"tls-{by}"]["kind"] == tried.refused[f"broker-{by}"]["kind"]


def test_what_the_log_says(tried: Tried, place: Place) -> None:
    """Each refusal of kproxy's has its reason, and reaches no broker."""
    name = f"wrong-{tried.client}"
    lines = place.proxy.logged(event="connection ended", reason="authentication_failed")
    details = {line["detail"] for line in lines if line["client_id"] == name}
    passwords = {f"{by}: the user is unknown or the password is wrong" for by in PLAINTEXT}
    assert details == passwords | {"OAUTHBEARER: the token is for 'elsewhere'"}
    unruly = f"mTLS: no rule of authentication.certificates is for the subject CN=nobody-{name}"
    assert unruly in {line["detail"] for line in lines}
    assert not any(broker.principals(name) for broker in place.brokers.values())
