"""What a client can do, by its software's name and by its requests."""

from __future__ import annotations

import pytest

from kproxy.rebootstrap.client_capabilities import (
    RELEASES,
    Capability,
    believes_the_body,
    capability,
    hides_topic_ids,
    keeps_leader_epochs,
)

READ, RECOVER, OLD, UNKNOWN = Capability.REBOOTSTRAPS, Capability.RECOVERS, Capability.TOO_OLD, Capability.UNKNOWN


@pytest.mark.parametrize(
    ("name", "version", "can"),
    [
        ("apache-kafka-java", "4.4.0", READ),
        ("apache-kafka-java", "4.0.0", READ),
        ("apache-kafka-java", "10.0.0", READ),
        ("apache-kafka-java", "3.9.1", RECOVER),
        ("apache-kafka-java", "3.8.0", RECOVER),
        ("apache-kafka-java", "3.7.2", OLD),
        ("apache-kafka-java", "2.4.0", OLD),
        ("librdkafka", "2.16.0", READ),
        ("librdkafka", "v2.11.1", READ),
        ("librdkafka", "2.10.1-RC1", RECOVER),
        ("librdkafka", "2.9.0", OLD),
        ("librdkafka", "1.9.2", OLD),
        ("kgo", "v1.19.0", READ),
        ("kgo", "v1.18.1", RECOVER),
        ("sarama", "v1.45.1", RECOVER),
        ("kafka-python", "3.0.12", READ),
        ("kafka-python", "2.2.15", UNKNOWN),
    ],
)
def test_statement_which_release_can_what(name: str, version: str, can: Capability) -> None:
    """rebootstrap.md, Clients: Java from 4.0, librdkafka from 2.11 read 129; Java 3.8, librdkafka 2.10 have KIP-899."""
    assert capability((name, version), -1) is can


@pytest.mark.parametrize(
    ("name", "version", "can"),
    [
        ("confluent-kafka-python", "2.16.1-rdkafka-2.16.0", READ),
        ("confluent-kafka-python", "2.16.1-rdkafka-2.10.0", RECOVER),
        ("confluent-kafka-python", "2.16.1-librdkafka-2.9.0", OLD),
        ("confluent-kafka-javascript", "1.4.0-librdkafka-2.11.0", READ),
        ("confluent-kafka-go", "2.8.0", OLD),
        ("confluent-kafka-dotnet", "2.11.0", READ),
    ],
)
def test_bindings_are_as_able_as_their_librdkafka(name: str, version: str, can: Capability) -> None:
    """Its version comes alone or after the binding's own (the first is what confluent-kafka 2.16.1 sends)."""
    assert capability((name, version), -1) is can


@pytest.mark.parametrize(
    "software",
    [
        None,
        ("", ""),
        ("unknown", "unknown"),
        ("my-own", "4.0"),
        ("kgo", "unknown"),
        ("librdkafka", "2"),
        ("kgo", "٣.٤"),
    ],
)
def test_no_name_or_version_that_is_known(software: tuple[str, str] | None) -> None:
    """Neither a version without a number nor digits of another script lead to a guess."""
    assert capability(software, -1) is UNKNOWN


@pytest.mark.parametrize("software", [None, ("apache-kafka-java", "2.4.0"), ("sarama", "1.0"), ("my-own", "1")])
def test_statement_v13_seen_beats_the_name(software: tuple[str, str] | None) -> None:
    """rebootstrap.md: v13+ only; whoever sends it can read what it answers."""
    assert capability(software, 13) is READ
    assert capability(software, 14) is READ


@pytest.mark.parametrize(
    ("software", "can"),
    [
        (("apache-kafka-java", "4.4.0"), RECOVER),
        (("apache-kafka-java", "3.8.0"), RECOVER),
        (("apache-kafka-java", "3.7.0"), OLD),
        (None, UNKNOWN),
    ],
)
@pytest.mark.parametrize("version", [0, 12])
def test_an_older_version_seen_beats_the_name_too(
    software: tuple[str, str] | None, can: Capability, version: int
) -> None:
    """kproxy advertises v13 for every broker: a client held below it by its settings cannot be notified."""
    assert capability(software, version) is can


def test_every_software_has_a_line_for_every_release() -> None:
    """Newest first, down to 0.0, so that no version is without an answer."""
    for releases in RELEASES.values():
        since = [release for release, _ in releases]
        assert since == sorted(since, reverse=True)
        assert since[-1] == (0, 0)


@pytest.mark.parametrize(
    ("name", "version", "keeps"),
    [
        ("librdkafka", "2.15.0", True),
        ("librdkafka", "v2.11.1", True),
        ("librdkafka", "1.9.2", True),
        ("confluent-kafka-python", "2.16.1-rdkafka-2.15.0", True),
        ("confluent-kafka-javascript", "1.4.0-librdkafka-2.11.0", True),
        ("confluent-kafka-dotnet", "2.11.0", True),
        ("librdkafka", "2.16.0", False),
        ("confluent-kafka-python", "2.16.1-rdkafka-2.16.1", False),
        ("librdkafka", "3.0", False),
        ("librdkafka", "unknown", False),
        ("apache-kafka-java", "2.4.0", False),
        ("kgo", "v1.18.0", False),
    ],
)
def test_software_that_keeps_leader_epochs(name: str, version: str, keeps: bool) -> None:
    """Only librdkafka before 2.16 does; later ones forget their brokers on 129."""
    assert keeps_leader_epochs((name, version)) is keeps


def test_unnamed_software_keeps_no_leader_epochs() -> None:
    """Every release of librdkafka that knows leader epochs names itself."""
    assert not keeps_leader_epochs(None)


@pytest.mark.parametrize(
    ("name", "version", "hides"),
    [
        ("kgo", "v1.22.2", True),
        ("kgo", "v1.22.0", True),
        ("kgo", "v2.0.0", True),
        ("kgo", "v1.21.7", False),
        ("kgo", "v1.9.0", False),
        ("kgo", "unknown", False),
        ("kgo", "", False),
        ("own", "unknown", True),
        ("own", "0.1", True),
        ("KGO", "v1.22.2", False),
        ("sarama", "v1.45.1", False),
    ],
)
def test_software_that_gets_no_topic_ids(name: str, version: str, hides: bool) -> None:
    """Listed software is: franz-go from the release that works without ids, other software in every release."""
    assert hides_topic_ids((name, version), ("kgo", "own")) is hides
    assert not hides_topic_ids((name, version), ())


def test_unnamed_software_gets_topic_ids() -> None:
    """Without a name it is in no list."""
    assert not hides_topic_ids(None, ("kgo", ""))


def test_software_that_believes_the_body() -> None:
    """kafka-python does, in any release; unnamed software does not."""
    assert believes_the_body(("kafka-python", "3.0.12"))
    assert not believes_the_body(("apache-kafka-java", "4.4.0"))
    assert not believes_the_body(None)
