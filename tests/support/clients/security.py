"""How clients connect: TEST_SECURITY has it as JSON, `{}` for plaintext. Each library has its own words for it.

`ca`: a file, for TLS. `certificate`, `key`: files, where the server wants them. `mechanism`, `username`, `password`.
"""

from __future__ import annotations

import json
import os
import ssl
from typing import Any

SAID: dict[str, str] = json.loads(os.environ.get("TEST_SECURITY", "{}"))
PROTOCOL = ("SASL_" if "mechanism" in SAID else "") + ("SSL" if "ca" in SAID else "PLAINTEXT")


def _named(**names: str) -> dict[str, str]:
    return {setting: SAID[name] for name, setting in names.items() if name in SAID}


def librdkafka(bootstrap: str) -> dict[str, Any]:
    return {"bootstrap.servers": bootstrap, "security.protocol": PROTOCOL} | _named(
        ca="ssl.ca.location",
        certificate="ssl.certificate.location",
        key="ssl.key.location",
        mechanism="sasl.mechanism",
        username="sasl.username",
        password="sasl.password",
    )


def _in_python(bootstrap: str) -> dict[str, Any]:
    return {"bootstrap_servers": bootstrap, "security_protocol": PROTOCOL} | _named(
        mechanism="sasl_mechanism", username="sasl_plain_username", password="sasl_plain_password"
    )


def kafka_python(bootstrap: str) -> dict[str, Any]:
    return _in_python(bootstrap) | _named(ca="ssl_cafile", certificate="ssl_certfile", key="ssl_keyfile")


def aiokafka(bootstrap: str) -> dict[str, Any]:
    if "ca" not in SAID:
        return _in_python(bootstrap)
    context = ssl.create_default_context(cafile=SAID["ca"])
    if "certificate" in SAID:
        context.load_cert_chain(SAID["certificate"], SAID["key"])
    return {**_in_python(bootstrap), "ssl_context": context}
