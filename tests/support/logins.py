"""The ways in which clients log in at kproxy, in each of which each client is tried, and what it says when refused.

docs/authentication.md has them as tables: run this by `python -m` when they have changed. Tests fail while the page is
out of date, and while a client cannot do what the page says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kproxy.docs_part import with_part
from kproxy.local_kafka import java
from tests.support.client import java_4_4, script
from tests.support.java_security import allowing, properties
from tests.support.libraries import compiled

PAGE: Final = Path("docs", "authentication.md")
BEGIN: Final = "<!-- begin: written by `python -m tests.support.logins` -->\n"
END: Final = "<!-- end -->\n"
_SOURCE: Final = Path(__file__).with_name("clients") / "Logins.java"
_LOGGING: Final = f"-Dlog4j2.configurationFile={_SOURCE.with_name('log4j2.xml')}"
CLIENTS: Final = {
    "java": "Java 4.4",
    "confluent_kafka": "librdkafka (confluent-kafka)",
    "kafka_python": "kafka-python",
    "aiokafka": "aiokafka",
    "kafkajs": "kafkajs",
    "franz_go": "franz-go",
}
"""The clients, and their names for people."""


@dataclass(frozen=True, slots=True)
class Login:
    """How a client logs in: at which virtual cluster, and by what."""

    cluster: str
    by: str

    @property
    def name(self) -> str:
        """A name for client ids."""
        return f"{self.cluster}-{self.by}"


PLAINTEXT: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
TLS: Final = (*PLAINTEXT, "OAUTHBEARER")
CERTIFICATE: Final = "certificate"
LOGINS: Final = (
    *(Login("plaintext", mechanism) for mechanism in PLAINTEXT),
    *(Login("tls", mechanism) for mechanism in TLS),
    Login("mtls", CERTIFICATE),
)
FOREIGN: Final = Login("mtls", "foreign")
"""With a certificate of an authority that kproxy does not trust."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a client tells its user of a refusal: the error, and one of these texts."""

    kind: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusals:
    """What a client tells its user by what was wrong."""

    password: Told
    token: Told
    certificate: Told
    """Of the trusted authority, and no rule has its name."""
    foreign: Told

    def of(self, login: Login) -> Told:
        """Return what it tells where this login is wrong."""
        if login == FOREIGN:
            return self.foreign
        return {CERTIFICATE: self.certificate, "OAUTHBEARER": self.token}.get(login.by, self.password)


_PASSWORD: Final = "Authentication failed: invalid credentials with SASL mechanism"
_TOKEN: Final = '{"status":"invalid_token"}'
REFUSALS: Final = {
    "java": Refusals(
        Told("SaslAuthenticationException", (_PASSWORD,)),
        Told("SaslAuthenticationException", (_TOKEN,)),
        Told("TimeoutException", ("Timed out waiting for a node assignment",)),
        Told("SslAuthenticationException", ("Failed to process post-handshake messages",)),
    ),
    "confluent_kafka": Refusals(
        Told("_AUTHENTICATION", (_PASSWORD,)),
        Told("_AUTHENTICATION", (_TOKEN,)),
        Told("_ALL_BROKERS_DOWN", ("brokers are down",)),
        Told("_TRANSPORT", ("alert unknown ca",)),
    ),
    "kafka_python": Refusals(
        Told("KafkaTimeoutError", (_PASSWORD,)),
        Told("KafkaTimeoutError", (_TOKEN,)),
        Told("KafkaTimeoutError", ("socket disconnected",)),
        Told("KafkaTimeoutError", ("TLSV1_ALERT_UNKNOWN_CA",)),
    ),
    "aiokafka": Refusals(
        Told("KafkaConnectionError", (_PASSWORD,)),
        Told("KafkaConnectionError", ("Unable to request metadata",)),
        Told("KafkaConnectionError", ("Unable connect to",)),
        Told("KafkaConnectionError", ("Unable connect to",)),
    ),
    "kafkajs": Refusals(
        Told("KafkaJSSASLAuthenticationError", (_PASSWORD,)),
        Told("KafkaJSConnectionClosedError", ("Closed connection",)),
        Told("KafkaJSNumberOfRetriesExceeded", ("Closed connection",)),
        Told("KafkaJSNumberOfRetriesExceeded", ("alert unknown ca",)),
    ),
    "franz_go": Refusals(
        Told("SASL_AUTHENTICATION_FAILED", (_PASSWORD,)),
        Told("", ("unexpected data in oauth response",)),
        Told("", ("broker closed the connection immediately",)),
        Told("", ("unknown certificate authority",)),
    ),
}


def command(client: str, accepted: Mapping[str, Any], refused: Mapping[str, Any], directory: Path) -> list[str]:
    """Return the command of one process that logs in in all these ways: orders by name, as `clients/logins.py` says."""
    if client != "java":
        return script(client, "logins", accepted=accepted, refused=refused)
    spoken = {"accepted": _of_java(accepted, directory), "refused": _of_java(refused, directory)}
    path = f"{java_4_4()}:{compiled(_SOURCE, directory, java_4_4())}"
    return java.command(path, "Logins", json.dumps(spoken), options=(*java.QUICK, _LOGGING, *allowing(directory)))


def _of_java(orders: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    return {name: {**order, "security": properties(order["security"], directory)} for name, order in orders.items()}


def part() -> str:
    """Return the tables in Markdown."""
    works = (("", *CLIENTS.values()), *((_way(login), *("yes" for _ in CLIENTS)) for login in LOGINS))
    says = ("", "wrong password", "wrong token", "certificate that no rule matches", "of an authority not trusted")
    told = ((CLIENTS[name], *_told(one)) for name, one in REFUSALS.items())
    return "".join((*_rows(works), "\n", *_rows((says, *told))))


def _way(login: Login) -> str:
    return {"plaintext": f"{login.by}, without TLS", "tls": f"{login.by}, TLS", "mtls": "certificate (mTLS)"}[
        login.cluster
    ]


def _told(refusals: Refusals) -> Iterator[str]:
    for told in (refusals.password, refusals.token, refusals.certificate, refusals.foreign):
        texts = " or ".join(f"`{text}`" for text in told.texts)
        yield f"`{told.kind}`: {texts}" if told.kind else texts


def _rows(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        cells = [*row]
        yield f"| {' | '.join(cells)} |\n"
        if number == 0:
            yield f"|{'---|' * len(cells)}\n"


def written(page: str) -> str:
    """Return the page with its part between the marks written anew; raise ValueError when a mark is missing."""
    return with_part(PAGE, page, BEGIN, part(), END)


if __name__ == "__main__":
    path = Path(__file__).parents[2] / PAGE
    path.write_text(written(path.read_text()))
