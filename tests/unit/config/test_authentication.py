"""The settings of clients' authentication: what is refused, and where."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from kproxy.config import VirtualCluster

CLUSTER = {"name": "one", "bootstrap_servers": "broker:9092", "listen": "0.0.0.0:9092"}
SCRAM = {"mechanisms": ["SCRAM-SHA-256"], "users_file": "users"}
TOKENS = {
    "mechanisms": ["OAUTHBEARER"],
    "oauthbearer": {"issuer": "https://login.example.com", "audience": "kafka", "jwks_file": "keys"},
}
TLS = {"certificate": "tls.crt"}


def cluster(authentication: dict[str, Any], **settings: Any) -> VirtualCluster:
    """A virtual cluster whose clients authenticate."""
    return VirtualCluster.model_validate({**CLUSTER, "authentication": authentication, **settings})


def test_scram() -> None:
    """A list, or one string with commas; for as long as the connection lasts."""
    found = cluster({**SCRAM, "mechanisms": "SCRAM-SHA-256, SCRAM-SHA-512"}).authentication
    assert found is not None
    assert found.mechanisms == ("SCRAM-SHA-256", "SCRAM-SHA-512")
    assert found.session_lifetime is None
    assert found.files == {"users"}


@pytest.mark.parametrize(
    ("readable", "which"),
    [
        ({"mechanisms": ["PLAIN"], "users_file": "users"}, "PLAIN can be read .* leave it out"),
        ({**TOKENS}, "OAUTHBEARER can be read"),
        (
            {**TOKENS, "mechanisms": ["OAUTHBEARER", "PLAIN"], "users_file": "users"},
            "OAUTHBEARER and PLAIN .* them out",
        ),
    ],
)
def test_what_others_could_read(readable: dict[str, Any], which: str) -> None:
    """It takes TLS, or words that cannot be missed."""
    with pytest.raises(ValidationError, match=which):
        cluster(readable)
    assert cluster(readable, tls=TLS)
    found = cluster({**readable, "dangerously_accept_secrets_without_tls": True}).authentication
    assert found is not None
    assert ("keys" in found.files) == ("OAUTHBEARER" in found.mechanisms)


def test_certificates() -> None:
    """Rules need the authorities whose certificates count."""
    rules = {"certificates": [{"subject": "CN=([^,]+),.*", "principal": "$1"}]}
    for tls in ({}, {"tls": TLS}):
        with pytest.raises(ValidationError, match="needs `tls` with a `client_ca`"):
            cluster(rules, **tls)
    assert cluster(rules, tls={**TLS, "client_ca": "ca.crt"})
    with pytest.raises(ValidationError, match="a certificate counts as long as its connection"):
        cluster({**rules, "session_lifetime": "1h"}, tls={**TLS, "client_ca": "ca.crt"})


@pytest.mark.parametrize(
    ("subject", "principal", "why"),
    [
        ("CN=(", "$1", "is not a regex"),
        ("CN=(.*)", "$2", "\\$2 is none of the 1 groups"),
        ("CN=(.*)", "$", "\\$ is none of the 1 groups"),
        ("CN=.*", "", "must not be empty"),
    ],
)
def test_rules_that_are_none(subject: str, principal: str, why: str) -> None:
    """Each says why."""
    rules = {"certificates": [{"subject": subject, "principal": principal}]}
    with pytest.raises(ValidationError, match=why):
        cluster(rules, tls={**TLS, "client_ca": "ca.crt"})


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"mechanisms": []}, "one of both says who clients are"),
        ({"certificates": [{"subject": "CN=a", "principal": "a"}]}, "one of both says who clients are"),
        ({"users_file": None}, "is for PLAIN and SCRAM"),
        ({**TOKENS, "users_file": "users"}, "is for PLAIN and SCRAM"),
        ({"oauthbearer": TOKENS["oauthbearer"]}, "is for OAUTHBEARER"),
        ({"mechanisms": ["SCRAM-SHA-256", "OAUTHBEARER"]}, "is for OAUTHBEARER"),
        ({"mechanisms": ["GSSAPI"]}, "PLAIN"),
        ({"mechanisms": ["SCRAM-SHA-256", "SCRAM-SHA-256"]}, "names a mechanism twice"),
        ({"users_file": ""}, "is empty"),
        ({"session_lifetime": "1s"}, "greater than or equal to 2"),
    ],
)
def test_what_is_refused(wrong: dict[str, Any], why: str) -> None:
    """Each says why."""
    with pytest.raises(ValidationError, match=why):
        cluster({**SCRAM, **wrong})
