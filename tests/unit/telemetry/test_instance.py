"""The client of an instance: what is kept of it, and how its id is written."""

from __future__ import annotations

from uuid import UUID

from kproxy.telemetry.subscription import MAX_TEXT, RESERVED_IDS, kafka_text
from tests.unit.telemetry.clients import ID, JAVA, UNKNOWN


def test_what_fits_is_kept_as_it_is() -> None:
    """The usual client is not copied, nor one that sends no texts."""
    assert JAVA.bounded() is JAVA
    assert UNKNOWN.bounded() is UNKNOWN


def test_long_texts_are_cut() -> None:
    """16,384 instances whose client ids have 32 KiB each would fill the memory."""
    long = JAVA._replace(client_id="i" * 32_767, software_name="n" * 300, software_version="v" * MAX_TEXT)
    assert long.bounded() == JAVA._replace(
        client_id="i" * MAX_TEXT, software_name="n" * MAX_TEXT, software_version="v" * MAX_TEXT
    )
    assert JAVA._replace(principal="p" * 260).bounded() == JAVA._replace(principal="p" * MAX_TEXT)
    assert UNKNOWN._replace(software_name="n" * 999).bounded().client_id is None


def test_an_id_as_kafka_prints_it() -> None:
    """Base64url of its 16 bytes, without padding: what Java's clients and librdkafka log."""
    assert kafka_text(ID) == "tpzDWnpUR5Cqacwr1O5FOA"
    assert kafka_text(UUID(int=0)) == "A" * 22


def test_reserved_ids() -> None:
    """Kafka reserves zero and one."""
    assert {UUID(int=0), UUID(int=1)} == RESERVED_IDS
