"""kproxy.config.oauthbearer: what goes together, and what can never be allowed."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config.oauthbearer import OAuthBearer
from tests.unit.config.problems import problems_of

FILE = {"issuer": "https://i/", "audience": "kafka", "jwks_file": "/keys"}
URL = {"issuer": "https://i/", "audience": ["a", "b"], "jwks_url": "https://i/keys"}


@pytest.mark.parametrize(
    "data",
    [
        FILE,
        URL | {"ca": "/ca", "required_claims": {"tid": "t"}, "clock_skew": "1m", "algorithms": "ES256,PS256"},
        URL | {"jwks_url": "http://localhost:8080/keys"},
        URL | {"jwks_url": "http://i/keys?tenant=t", "dangerously_accept_plaintext": True},
    ],
)
def test_what_goes_together(data: dict[str, Any]) -> None:
    """Keys from one place; http at this machine, or where it is said to be accepted."""
    made = OAuthBearer.model_validate(data)
    assert OAuthBearer.model_validate(made.model_dump()) == made
    assert made.clock_skew in (30, 60)
    assert not {each for each in made.algorithms if each.startswith("HS") or each.lower() == "none"}


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, ["issuer: is required", "audience: is required"]),
        (FILE | {"audience": []}, ["audience: must not be empty"]),
        (FILE | {"algorithms": "none"}, ["algorithms.0: must be 'RS256', "]),
        (FILE | {"algorithms": ["RS256", "HS256"]}, ["algorithms.1: must be 'RS256', "]),
        (FILE | {"algorithms": []}, ["algorithms: must not be empty"]),
        (FILE | {"clock_skew": 601}, ["clock_skew: must be at most 600"]),
        (FILE | {"jwks_refresh": 1}, ["jwks_refresh: must be at least 10"]),
        (FILE | {"jwks_file": None}, ["jwks_url: is required, or a `jwks_file`"]),
        (FILE | {"jwks_url": "https://i/keys"}, ["jwks_file: stands beside jwks_url"]),
        (FILE | {"ca": "/ca"}, ["ca: is for a jwks_url of https"]),
        (URL | {"jwks_url": "http://[::1]/", "ca": "/ca"}, ["ca: is for a jwks_url of https"]),
        (URL | {"jwks_url": "http://i/keys"}, ["jwks_url: would take keys that anybody on the way can replace"]),
        (URL | {"jwks_url": "i/keys"}, ["jwks_url: 'i/keys' is no endpoint; write https://host/path"]),
        (URL | {"jwks_url": 5}, ["jwks_url: must be text"]),
    ],
)
def test_what_is_refused(data: dict[str, Any], problems: list[str]) -> None:
    """Each has a line with the key."""
    lines = problems_of(OAuthBearer, data)
    assert len(lines) == len(problems), lines
    assert all(line.startswith(start) for line, start in zip(lines, problems, strict=True)), lines
