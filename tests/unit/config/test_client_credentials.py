"""kproxy.config.client_credentials: what goes together, what is refused, and that no secret is shown."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import Config
from kproxy.config.client_credentials import ClientCredentials
from kproxy.config.plan import notes
from kproxy.config.secret import secrets_of
from tests.unit.config.problems import problems_of

SECRET = "hunter2-hunter2"
GRANT = {"token_endpoint": "https://login.example.com/token", "client_id": "kproxy", "client_secret": SECRET}
FILE = {"client_secret": None, "client_secret_file": "/f"}
PLAINTEXT = {"token_endpoint": "http://login.example.com/token", "dangerously_accept_plaintext": True}


@pytest.mark.parametrize(
    "data",
    [
        GRANT,
        GRANT | FILE | {"scope": "a b", "audience": "kafka", "ca": "/ca"},
        GRANT | {"token_endpoint": "http://127.0.0.1:8080/token"},
        GRANT | {"token_endpoint": "http://localhost/token"},
        GRANT | PLAINTEXT,
    ],
)
def test_what_goes_together(data: dict[str, Any]) -> None:
    """A secret or its file; http at this machine, or where it is said to be accepted."""
    made = ClientCredentials.model_validate(data)
    assert made.endpoint.host in data["token_endpoint"]
    assert ClientCredentials.model_validate(made.model_dump()) == made
    assert SECRET not in f"{made!r} {made.model_dump_json()}"


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, ["token_endpoint: is required", "client_id: is required"]),
        (
            GRANT | {"token_endpoint": "login.example.com"},
            ["token_endpoint: 'login.example.com' is no endpoint; write"],
        ),
        (GRANT | {"token_endpoint": f"https://u:{SECRET}@h/"}, ["token_endpoint: '**********@h/' is no endpoint"]),
        (GRANT | {"token_endpoint": f"https://h/?s={SECRET}"}, ["token_endpoint: must have no query"]),
        (GRANT | {"token_endpoint": 5}, ["token_endpoint: must be text"]),
        (GRANT | {"token_endpoint": "http://h/"}, ["token_endpoint: would send the client's secret readable"]),
        (GRANT | {"token_endpoint": "http://[::1]/", "ca": "/ca"}, ["ca: is for a token endpoint of https"]),
        (GRANT | {"client_secret": None}, ["client_secret: is required, here or in a `client_secret_file`"]),
        (GRANT | {"client_secret_file": "/f"}, ["client_secret_file: stands beside client_secret"]),
        (GRANT | {"client_secret": f"{SECRET}\n{SECRET}"}, ["client_secret: must be one line, and not empty"]),
        (GRANT | {"client_id": ""}, ["client_id: must not be empty"]),
        (GRANT | {"client_authentication": "jwt"}, ["client_authentication: must be 'client_secret_basic' or"]),
    ],
)
def test_what_is_refused(data: dict[str, Any], problems: list[str]) -> None:
    """Each has a line with the key, and the secret is in none."""
    lines = problems_of(ClientCredentials, data)
    assert len(lines) == len(problems)
    assert all(line.startswith(start) for line, start in zip(lines, problems, strict=True)), lines
    assert SECRET not in str(lines)


def test_the_whole_configuration() -> None:
    """Its secrets are known to the log, wherever the identity stands; one that is sent in the clear has a note."""
    bearer = {"mechanism": "OAUTHBEARER", "client_credentials": GRANT | PLAINTEXT}
    upstream = {"name": "east", "bootstrap_servers": "localhost:1", "identity": bearer}
    cluster = {"name": "c", "listen": "h:1", "upstreams": [upstream], "identity": bearer}
    topic = {"name": "k", "type": "kafka", "topic": "t", "bootstrap_servers": "a:1", "identity": bearer}
    config = Config.model_validate({"clusters": [cluster], "events": {"destinations": [topic]}})
    assert [*secrets_of(config.with_secrets)].count(SECRET) == 3
    assert [note for note in notes(config) if "can read secret and token" in note] == [
        f"{key}.client_credentials: whoever is on the way to http://login.example.com:80/token can read secret and "
        "token"
        for key in ("events.destinations.0.identity", "clusters.0.identity", "clusters.0.upstreams.0.identity")
    ]
