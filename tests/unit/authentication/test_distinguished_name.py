"""Subjects as text: as Kafka's brokers write them, and none that can pose as another."""

from __future__ import annotations

import pytest

from kproxy.authentication.distinguished_name import Subject, distinguished_name


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ((), ""),
        (
            ((("countryName", "CH"),), (("organizationName", "Example"),), (("commonName", "alice"),)),
            "CN=alice,O=Example,C=CH",
        ),
        (((("commonName", "a"), ("userId", "1")),), "CN=a+UID=1"),
        (((("emailAddress", "a@example.com"),),), "emailAddress=a@example.com"),
        (((("commonName", "alice,O=Example"),),), "CN=alice\\,O\\=Example"),
        (((("commonName", ' a"+\\<>; '),),), 'CN=\\ a\\"\\+\\\\\\<\\>\\;\\ '),
        (((("commonName", "#a"),),), "CN=\\#a"),
        (((("commonName", "a\nb\x7fé"),),), "CN=a\\0Ab\\7Fé"),
    ],
)
def test_a_subject(subject: Subject, text: str) -> None:
    """The most specific part comes first; what separates parts is escaped in values, and control characters too."""
    assert distinguished_name(subject) == text
