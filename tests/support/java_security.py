"""How Java's clients connect, in Kafka's own words: what `clients/security.py` is for the libraries of Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_COMMON: Final = "org.apache.kafka.common.security"
_MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule",
}


def properties(said: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Return the properties; files that they name go into the directory."""
    protocol = ("SASL_" if "mechanism" in said else "") + ("SSL" if "ca" in said else "PLAINTEXT")
    found = {"security.protocol": protocol}
    if "client_id" in said:
        found["client.id"] = said["client_id"]
    if "ca" in said:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": said["ca"]}
    if "certificate" in said:
        found |= _certificate(said, directory)
    if "mechanism" in said:
        found |= _login(said, directory)
    return found


def allowing(directory: Path) -> list[str]:
    """Return the JVM's option without which it reads no token of the directory."""
    files = ",".join(str(file) for file in directory.glob("*.jwt"))
    urls = ",".join(file.as_uri() for file in directory.glob("*.jwt"))
    named = "-Dorg.apache.kafka.sasl.oauthbearer.allowed"
    return [f"{named}.files={files}", f"{named}.urls={urls}"]


def _certificate(said: Mapping[str, str], directory: Path) -> dict[str, str]:
    both = directory / f"{Path(said['certificate']).stem}.both.pem"
    both.write_text(Path(said["key"]).read_text() + Path(said["certificate"]).read_text())
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(both)}


def _login(said: Mapping[str, str], directory: Path) -> dict[str, str]:
    found = {"sasl.mechanism": said["mechanism"]}
    options = f' username="{said["username"]}" password="{said["password"]}"' if "password" in said else ""
    if "token" in said:
        file = directory / f"{said['client_id']}.jwt"
        file.write_text(said["token"])
        found["sasl.login.callback.handler.class"] = f"{_COMMON}.oauthbearer.OAuthBearerLoginCallbackHandler"
        found["sasl.oauthbearer.token.endpoint.url"] = file.as_uri()
    found["sasl.jaas.config"] = f"{_COMMON}.{_MODULES[said['mechanism']]} required{options};"
    return found
