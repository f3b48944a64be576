"""codegen.union: one message with the versions of two releases."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.extraction import load
from codegen.schema import Message, Versions, parse_message
from codegen.union import united

HEAD = {"name": "Head", "type": "int32", "versions": "0+"}
TAIL = {"name": "Tail", "type": "string", "versions": "0+", "nullableVersions": "3+"}


def message(versions: str, *fields: dict[str, Any], flexible: str = "4+") -> Message:
    """A response with these fields."""
    raw = {"name": "XResponse", "type": "response", "apiKey": 1, "validVersions": versions}
    return parse_message({**raw, "flexibleVersions": flexible, "fields": list(fields)})


def of(found: Message, version: int) -> list[str]:
    return [field.name for field in found.struct.plain(version)]


def test_versions_and_fields_of_both() -> None:
    """A field that is gone is where it was, in the versions that are gone; others keep the newest's ranges."""
    gone = {"name": "Gone", "type": "[]int64", "versions": "0-1"}
    new = {"name": "New", "type": "int8", "versions": "5+"}
    found = united(message("2-5", HEAD, new, TAIL), message("0-4", HEAD, gone, TAIL))
    assert (found.valid, found.newest_from) == (Versions(0, 5), 2)
    assert [of(found, version) for version in (0, 1, 2, 5)] == [
        ["Head", "Gone", "Tail"],
        ["Head", "Gone", "Tail"],
        ["Head", "Tail"],
        ["Head", "New", "Tail"],
    ]


def test_a_field_that_the_newest_knows_from_a_later_version_on() -> None:
    """Its range and its null begin where the older release has them."""
    late = HEAD | {"versions": "2+"}
    null = TAIL | {"nullableVersions": "1+"}
    found = united(message("2-3", late, TAIL | {"nullableVersions": "2+"}), message("0-3", HEAD, null))
    head, tail = found.struct.fields
    assert head.versions.low == 0
    assert [version in tail.nullable for version in (0, 1, 2)] == [False, True, True]


def test_fields_within_structs() -> None:
    """Structs are united field by field, and defined before those that have them."""
    old = {"name": "Old", "type": "int8", "versions": "0"}
    newest = {"name": "Rows", "type": "[]Row", "versions": "0+", "fields": [HEAD]}
    found = united(message("1-2", newest), message("0-1", newest | {"fields": [HEAD, old]}))
    (rows,) = found.structs
    assert [field.name for field in rows.plain(0)] == ["Head", "Old"]
    assert [field.name for field in rows.plain(1)] == ["Head"]
    assert found.struct.fields[0].struct is rows


@pytest.mark.parametrize(
    ("newest", "older", "reason"),
    [
        (message("3-4", HEAD), message("0-1", HEAD), "v0 to v1 end before"),
        (message("3-4", HEAD), message("3-4", HEAD), "v3 to v4 end before"),
        (message("2-3", HEAD), message("0-2", HEAD | {"type": "int64"}), "v0: the union is not"),
        (message("2-3", TAIL, HEAD), message("0-2", HEAD, TAIL), "v0: the union is not"),
        (message("2-3", HEAD), message("0-2", HEAD, flexible="1+"), "v1 is flexible in one release only"),
    ],
)
def test_what_cannot_be_united(newest: Message, older: Message, reason: str) -> None:
    """A gap, another type, another order, another encoding: nothing is generated of these."""
    with pytest.raises(ValueError, match=reason):
        united(newest, older)


def test_every_version_that_kafka_4_removed_is_there() -> None:
    """KIP-896's table, for clients and their tools; what only brokers and controllers send is not in it."""
    found = {
        message.name.removesuffix("Request"): message.newest_from
        for message in load().of_kind("request")
        if message.valid.low < message.newest_from and "broker" in message.listeners
    }
    assert found == {
        "AlterReplicaLogDirs": 1,
        "CreateAcls": 1,
        "CreateDelegationToken": 1,
        "CreateTopics": 2,
        "DeleteAcls": 1,
        "DeleteTopics": 1,
        "DescribeAcls": 1,
        "DescribeConfigs": 1,
        "DescribeDelegationToken": 1,
        "DescribeLogDirs": 1,
        "ExpireDelegationToken": 1,
        "Fetch": 4,
        "ListOffsets": 1,
        "OffsetCommit": 2,
        "OffsetFetch": 1,
        "OffsetForLeaderEpoch": 2,
        "Produce": 3,
        "RenewDelegationToken": 1,
        "WriteTxnMarkers": 1,
    }
