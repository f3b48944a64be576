"""How clients connect, each library in its own words: TEST_SECURITY has it as JSON, `{}` for plaintext.

`ca`: a file, for TLS. `certificate`, `key`: files, where the server wants them. `mechanism`, and with it `username` and
`password`, or `token`. `client_id`: the client's name. A process that connects in several ways says each with `use`.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Mapping
from typing import Any

SAID: dict[str, str] = json.loads(os.environ.get("TEST_SECURITY", "{}"))


def use(said: Mapping[str, str]) -> None:
    """Connect this way from now on."""
    SAID.clear()
    SAID.update(said)


def _protocol() -> str:
    return ("SASL_" if "mechanism" in SAID else "") + ("SSL" if "ca" in SAID else "PLAINTEXT")


def _named(**names: str) -> dict[str, str]:
    return {setting: SAID[name] for name, setting in names.items() if name in SAID}


def librdkafka(bootstrap: str) -> dict[str, Any]:
    token = SAID.get("token")
    return (
        {"bootstrap.servers": bootstrap, "security.protocol": _protocol()}
        | ({"oauth_cb": lambda _: (token, time.time() + 3600)} if token else {})
        | _named(
            client_id="client.id",
            ca="ssl.ca.location",
            certificate="ssl.certificate.location",
            key="ssl.key.location",
            mechanism="sasl.mechanism",
            username="sasl.username",
            password="sasl.password",
        )
    )


def _in_python(bootstrap: str) -> dict[str, Any]:
    return {"bootstrap_servers": bootstrap, "security_protocol": _protocol()} | _named(
        client_id="client_id",
        mechanism="sasl_mechanism",
        username="sasl_plain_username",
        password="sasl_plain_password",
    )


def kafka_python(bootstrap: str) -> dict[str, Any]:
    found = _in_python(bootstrap) | _named(ca="ssl_cafile", certificate="ssl_certfile", key="ssl_keyfile")
    if "token" in SAID:
        said = SAID["token"]
        from kafka.net.sasl.oauth import AbstractTokenProvider

        class Tokens(AbstractTokenProvider):  # type: ignore[misc]  # of a library without types
            def token(self) -> str:
                return said

        found["sasl_oauth_token_provider"] = Tokens()
    return found


def aiokafka(bootstrap: str) -> dict[str, Any]:
    found = _in_python(bootstrap)
    if "ca" in SAID:
        found["ssl_context"] = ssl.create_default_context(cafile=SAID["ca"])
        if "certificate" in SAID:
            found["ssl_context"].load_cert_chain(SAID["certificate"], SAID["key"])
    if "token" in SAID:
        said = SAID["token"]
        from aiokafka.abc import AbstractTokenProvider

        class Tokens(AbstractTokenProvider):  # type: ignore[misc]  # of a library without types
            async def token(self) -> str:
                return said

        found["sasl_oauth_token_provider"] = Tokens()
    return found
