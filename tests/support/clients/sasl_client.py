"""A client that authenticates: it reports whether it was accepted, and then stays connected until it is killed.

With `ca`, a file, it speaks TLS.
"""

from __future__ import annotations

import asyncio  # noqa: TID251 - a client of its own process
import base64
import contextlib
import json
import ssl
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

FOREVER = 3600.0
SECONDS = 20.0
"""Seconds within which it must be accepted or refused."""


def token(user: str) -> str:
    """Return an unsigned JWT, as Kafka's unsecured validator takes it."""
    now = time.time()
    parts = [{"alg": "none"}, {"sub": user, "iat": now - 10, "exp": now + 3600}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def protocol(ca: str) -> str:
    return "SASL_SSL" if ca else "SASL_PLAINTEXT"


def report(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def confluent_kafka(bootstrap: str, client_id: str, mechanism: str, user: str, password: str, ca: str = "") -> None:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "client.id": client_id,
        "security.protocol": protocol(ca),
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }
    if ca:
        settings |= {"ssl.ca.location": ca}
    if mechanism == "OAUTHBEARER":
        settings |= {"oauth_cb": lambda _: (token(user), time.time() + 3600)}
    admin = AdminClient(settings)
    admin.poll(1)
    try:
        report(connected=sorted(admin.list_topics(timeout=SECONDS).brokers))
    except KafkaException as error:
        report(refused=str(error))
    threading.Event().wait(FOREVER)


def in_python(bootstrap: str, client_id: str, mechanism: str, user: str, password: str, ca: str = "") -> dict[str, Any]:
    """Return the settings as kafka-python names them, and aiokafka after it."""
    return {
        "bootstrap_servers": bootstrap,
        "client_id": client_id,
        "security_protocol": protocol(ca),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Suppress the warnings of a library's own imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def kafka_python(bootstrap: str, client_id: str, mechanism: str, user: str, password: str, ca: str = "") -> None:
    with no_warnings():
        from kafka.admin import KafkaAdminClient
        from kafka.errors import KafkaError
        from kafka.net.sasl.oauth import AbstractTokenProvider

    class Tokens(AbstractTokenProvider):  # type: ignore[misc]  # of a library without types
        def token(self) -> str:
            return token(user)

    settings = in_python(bootstrap, client_id, mechanism, user, password, ca)
    if ca:
        settings |= {"ssl_cafile": ca}
    if mechanism == "OAUTHBEARER":
        settings |= {"sasl_oauth_token_provider": Tokens()}
    try:
        admin = KafkaAdminClient(**settings)
        report(connected=sorted(admin.list_topics()))
    except KafkaError as error:
        report(refused=repr(error))
    threading.Event().wait(FOREVER)


def aiokafka(bootstrap: str, client_id: str, mechanism: str, user: str, password: str, ca: str = "") -> None:
    with no_warnings():
        from aiokafka.abc import AbstractTokenProvider
        from aiokafka.admin import AIOKafkaAdminClient
        from aiokafka.errors import KafkaError

    class Tokens(AbstractTokenProvider):  # type: ignore[misc]  # of a library without types
        async def token(self) -> str:
            return token(user)

    async def run() -> None:
        settings = in_python(bootstrap, client_id, mechanism, user, password, ca)
        if ca:
            settings |= {"ssl_context": ssl.create_default_context(cafile=ca)}
        if mechanism == "OAUTHBEARER":
            settings |= {"sasl_oauth_token_provider": Tokens()}
        admin = AIOKafkaAdminClient(**settings)
        try:
            await admin.start()
            report(connected=sorted(await admin.list_topics()))
        except KafkaError as error:
            report(refused=repr(error))
        await asyncio.sleep(FOREVER)

    asyncio.run(run())


if __name__ == "__main__":
    library, spoken = sys.argv[1:]
    {"confluent_kafka": confluent_kafka, "kafka_python": kafka_python, "aiokafka": aiokafka}[library](
        **json.loads(spoken)
    )
