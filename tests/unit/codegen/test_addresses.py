"""codegen.addresses: every broker address in Kafka's schemas is handled, in this Kafka and in later ones."""

from __future__ import annotations

import pytest

from codegen.addresses import LEFT_ALONE, is_host, left_alone, looks_like_address, paths
from codegen.extraction import load
from codegen.schema import Field, Message, Versions
from codegen.skims import carries_addresses
from kproxy.relay.apis import POLICIES
from kproxy.wire.generated.skims import IN_BYTES, SKIMS
from tests.support.every import every

SCHEMAS = load()
MESSAGES = SCHEMAS.of_kind("request") + SCHEMAS.of_kind("response")


def _skimmed(message: Message, path: str) -> bool:
    """Return True when skims cover a field: a Host and Port pair of a response, or a field around one."""
    pairs = [p for p, field in paths(message) if field.name in ("Host", "Port") and not left_alone(p)]
    is_response = message.kind == "response" and any(
        (message.api_key, version) in SKIMS for version in message.versions
    )
    return is_response and any(pair == path or pair.startswith(f"{path}.") for pair in pairs)


@every("message", MESSAGES, ids=lambda message: message.name)
def test_every_address_is_skimmed_or_left_alone_for_a_reason(message: Message) -> None:
    """A new field that sounds like an address fails here: give it a skim, or a line with its reason in LEFT_ALONE."""
    unhandled = [
        path
        for path, field in paths(message)
        if looks_like_address(field) and not left_alone(path) and not _skimmed(message, path)
    ]
    assert unhandled == []


@every("message", SCHEMAS.of_kind("response"), ids=lambda message: message.name)
def test_every_version_with_an_address_has_a_skim(message: Message) -> None:
    """No version is forgotten."""
    for version in message.versions:
        pairs = [
            path
            for path, field in paths(message)
            if field.name == "Host" and version in field.versions and not left_alone(path)
        ]
        around = [path for path, field in paths(message) if version not in field.versions]
        there = [path for path in pairs if not any(path.startswith(f"{gone}.") for gone in around)]
        assert bool(there) == carries_addresses(message, version) == ((message.api_key, version) in SKIMS)


def test_what_is_glanced_at_can_be_walked_as_plain_bytes() -> None:
    """Each version of these responses has such a walk, and no other response: unused walks only cost compile time."""
    glanced = {key for key, offer in POLICIES.items() if offer.glances}
    assert set(IN_BYTES) == {where for where in SKIMS if where[0] in glanced}


def test_the_list_has_nothing_that_is_gone() -> None:
    """Each entry is an existing field that looks like an address."""
    known = {path: field for message in MESSAGES for path, field in paths(message)}
    assert [path for path in LEFT_ALONE if path not in known or not looks_like_address(known[path])] == []


@pytest.mark.parametrize(
    "name", ["Host", "BrokerHost", "HostName", "Port", "Listeners", "LeaderEndpoint", "ClientAddress"]
)
def test_names_that_look_like_addresses(name: str) -> None:
    """The words in the name decide."""
    assert looks_like_address(Field(name, "string", Versions(0, 1)))


@pytest.mark.parametrize("name", ["SupportedFeatures", "MinSupportedVersion", "Report", "NodeId"])
def test_names_that_do_not(name: str) -> None:
    """A `port` within a word does not count."""
    assert not looks_like_address(Field(name, "string", Versions(0, 1)))


def test_port_stands_behind_host_everywhere() -> None:
    """Skims rely on this order."""
    for message in SCHEMAS.of_kind("response"):
        for struct in (message.struct, *message.structs):
            hosts = [field for field in struct.fields if field.name == "Host" and field.type == "string"]
            ports = [field for field in struct.fields if field.name == "Port"]
            assert [is_host(struct, host) for host in hosts] == ([True] if ports else [False] * len(hosts))
