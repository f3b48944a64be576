"""kproxy.config.identity: what goes together, what is refused, and that no secret is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kproxy.config import Config, Identity, load
from kproxy.config.address import is_loopback
from kproxy.config.secret import secrets_of
from tests.unit.config.problems import lines_of, problems_of

SECRET = "hunter2-hunter2"
PLAIN = {"mechanism": "PLAIN", "username": "alice", "password": SECRET}
BEARER = {"mechanism": "OAUTHBEARER", "token_file": "t"}
GRANT = {"client_credentials": {"token_endpoint": "https://h/", "client_id": "k", "client_secret": SECRET}}
CLUSTER = {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:1"}


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        PLAIN | {"mechanism": "SCRAM-SHA-256"},
        {"mechanism": "SCRAM-SHA-512", "username": "a,b=c", "password_file": "/f"},
        BEARER,
        {"mechanism": "OAUTHBEARER", **GRANT},
    ],
)
def test_what_goes_together(data: dict[str, Any]) -> None:
    """A user with a password or its file; a token's file alone."""
    made = Identity.model_validate(data)
    assert made.mechanism == data["mechanism"]
    assert Identity.model_validate(made.model_dump()) == made


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, ["mechanism: is required"]),
        (PLAIN | {"mechanism": "GSSAPI"}, ["mechanism: must be 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512' or 'OAUTH"]),
        (PLAIN | {"username": None}, ["username: is required by PLAIN"]),
        (PLAIN | {"username": ""}, ["username: must not be empty"]),
        (PLAIN | {"username": "a\nb"}, ["username: must not be empty, and must have no control characters"]),
        (PLAIN | {"username": 5}, ["username: must be text"]),
        (PLAIN | {"password": None}, ["password: is required by PLAIN, here or in a"]),
        (PLAIN | {"password": ""}, ["password: must be one line, and not empty"]),
        (PLAIN | {"password": "\n"}, ["password: must be one line, and not empty"]),
        (PLAIN | {"password": f"{SECRET}\n{SECRET}"}, ["password: must be one line, and not empty"]),
        (PLAIN | {"password": 27182818}, ["password: must be text"]),
        (PLAIN | {"password": [SECRET]}, ["password: must be text"]),
        (PLAIN | {"passwrod": SECRET}, ["passwrod: is no setting; did you mean password?"]),
        (PLAIN | {"password_file": "f"}, ["password_file: stands beside password: give one of both"]),
        (PLAIN | {"token_file": "f"}, ["token_file: is for OAUTHBEARER, not for PLAIN"]),
        ({"mechanism": "SCRAM-SHA-256"}, ["username: is required by SCRAM", "password: is required by SCRAM-SHA-256"]),
        ({"mechanism": "OAUTHBEARER"}, ["token_file: is required by OAUTHBEARER"]),
        (BEARER | {"token_file": ""}, ["token_file: must not be empty"]),
        (BEARER | GRANT, ["token_file: stands beside client_credentials"]),
        (PLAIN | GRANT, ["client_credentials: is for OAUTHBEARER, not for PLAIN"]),
        (BEARER | {"username": "a"}, ["username: is not for OAUTHBEARER"]),
        (BEARER | {"password": SECRET, "password_file": "f"}, ["password: is not for", "password_file: is not for"]),
    ],
)
def test_what_is_refused(data: dict[str, Any], problems: list[str]) -> None:
    """Each has a line with the key, and the secret is in none."""
    lines = problems_of(Identity, data)
    assert len(lines) == len(problems)
    assert all(line.startswith(start) for line, start in zip(lines, problems, strict=True)), lines
    assert SECRET not in str(lines)
    assert "27182818" not in str(lines)


@pytest.mark.parametrize("misplaced", [SECRET, 2718281828, [SECRET], 27182.81828])
def test_a_secret_in_the_place_of_a_mapping(tmp_path: Path, misplaced: Any) -> None:
    """It is not shown."""
    file = tmp_path / "kproxy.yaml"
    file.write_text(yaml.safe_dump({"clusters": [CLUSTER | {"identity": misplaced}]}))
    (line,) = lines_of(file)
    assert "identity: must be a mapping, not " in line
    assert "hunter2" not in line
    assert "2718" not in line


def test_one_line_end_is_no_part_of_a_password() -> None:
    """A Secret of Kubernetes may end with one; blanks are the user's own."""
    made = Identity.model_validate(PLAIN | {"password": f" {SECRET} \n"})
    assert made.password is not None
    assert made.password.get_secret_value() == f" {SECRET} "


def test_nothing_shows_a_password() -> None:
    """Not `repr`, not `str`, not what `config show` prints; `secrets_of` knows it for logs."""
    upstreams = [{"name": "a", "bootstrap_servers": "a:1", "identity": PLAIN | {"password": "another-secret"}}]
    cluster = CLUSTER | {"bootstrap_servers": "", "upstreams": upstreams, "identity": PLAIN}
    config = Config.model_validate({"clusters": [cluster]})
    texts = [repr(config), str(config), config.model_dump_json(), repr(config.clusters[0].backends)]
    assert not [text for text in texts if SECRET in text or "another-secret" in text]
    assert "**********" in config.model_dump_json()
    assert set(secrets_of(config.with_secrets)) - {""} == {SECRET, "another-secret"}


def test_an_upstream_without_an_identity_has_the_clusters() -> None:
    """Its own counts first; one server list is an upstream, too."""
    upstreams = [
        {"name": "a", "bootstrap_servers": "a:1", "identity": BEARER},
        {"name": "b", "bootstrap_servers": "b:1"},
    ]
    several = CLUSTER | {"bootstrap_servers": "", "upstreams": upstreams}
    for cluster, mechanisms in (
        (CLUSTER, [None]),
        (CLUSTER | {"identity": PLAIN}, ["PLAIN"]),
        (several, ["OAUTHBEARER", None]),
        (several | {"identity": PLAIN}, ["OAUTHBEARER", "PLAIN"]),
    ):
        backends = Config.model_validate({"clusters": [cluster]}).clusters[0].backends
        assert [one.identity and one.identity.mechanism for one in backends] == mechanisms


def test_variables_of_the_only_cluster(tmp_path: Path) -> None:
    """They say it all, or put the password beside what the file says."""
    file = tmp_path / "kproxy.yaml"
    file.write_text(yaml.safe_dump({"clusters": [CLUSTER | {"identity": {"mechanism": "PLAIN", "username": "alice"}}]}))
    by_file = load(file, {}, {"KPROXY_IDENTITY__PASSWORD": SECRET}).clusters[0].identity
    variables = {f"KPROXY_IDENTITY__{name.upper()}": value for name, value in PLAIN.items()}
    servers = {"KPROXY_BOOTSTRAP_SERVERS": "a:1", "KPROXY_LISTEN": "h:1"}
    assert by_file == load(None, {}, variables | servers).clusters[0].identity == Identity.model_validate(PLAIN)
    (line,) = lines_of(file, None, KPROXY_IDENTITY__PASSWORD=f"{SECRET}\n{SECRET}")
    assert line == "KPROXY_IDENTITY__PASSWORD: must be one line, and not empty (its value is not shown here)"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("LocalHost.", True), ("10.0.0.1", False), ("b", False)],
)
def test_loopback(host: str, loopback: bool) -> None:
    """Other names may lead to the machine itself; nobody knows."""
    assert is_loopback(host) is loopback
