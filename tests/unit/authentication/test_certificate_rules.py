"""Rules that make principals of subjects: the first that matches the whole of one counts."""

from __future__ import annotations

import pytest

from kproxy.authentication.certificate_rules import CertificateRules
from kproxy.authentication.exchange import AuthenticationRefusedError
from kproxy.config.authentication import CertificateRule

RULES = CertificateRules(
    [
        CertificateRule(subject="CN=([^,]+),OU=([^,]+),O=Example", principal="$2-$1"),
        CertificateRule(subject="CN=([a-z]*)(-[0-9]+)?", principal="$1"),
        CertificateRule(subject="CN=fixed\\.example\\.com", principal="fixed"),
        CertificateRule(subject="CN=none(-[0-9]+)?!", principal="$1"),
    ]
)


@pytest.mark.parametrize(
    ("subject", "principal"),
    [
        ("CN=alice,OU=web,O=Example", "User:web-alice"),
        ("CN=alice-7", "User:alice"),
        ("CN=fixed.example.com", "User:fixed"),
    ],
)
def test_a_rule_matches(subject: str, principal: str) -> None:
    """Its groups are put in."""
    assert RULES.principal(subject) == principal


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        ("", "no rule of authentication.certificates is for the subject "),
        ("CN=alice,OU=web,O=Example2", "no rule"),
        ("CN=alice\\,OU\\=web,O=Other", "no rule"),
        ("CN=none!", "make no name of CN=none!"),
        (f"CN={'a' * 300}", "make no name"),
    ],
)
def test_who_is_refused(subject: str, why: str) -> None:
    """A subject that no rule matches, and one of which no name can be made; the log says which."""
    with pytest.raises(AuthenticationRefusedError, match=why.replace(".", "[.]")):
        RULES.principal(subject)
