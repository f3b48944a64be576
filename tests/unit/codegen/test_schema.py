"""codegen.schema: reading schemas."""

from __future__ import annotations

import pytest

from codegen.extraction import Release, load
from codegen.jar import NEWEST, OLDER
from codegen.schema import NO_VERSIONS, OPEN, Versions, parse_message

RAW = {
    "name": "XRequest",
    "type": "request",
    "apiKey": 7,
    "validVersions": "0-4",
    "flexibleVersions": "2+",
    "latestVersionUnstable": True,
    "fields": [
        {"name": "B", "type": "Common", "versions": "0+"},
        {"name": "T", "type": "int32", "versions": "2+", "taggedVersions": "2+", "tag": 1, "default": -1},
        {"name": "S", "type": "string", "versions": "2+", "taggedVersions": "2+", "tag": 0},
        {"name": "A", "type": "[]Own", "versions": "1-3", "fields": [{"name": "C", "type": "bool", "versions": "1+"}]},
    ],
    "commonStructs": [{"name": "Common", "fields": [{"name": "D", "type": "uuid", "versions": "0+"}]}],
}


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("3", Versions(3, 3)),
        ("0-2", Versions(0, 2)),
        ("4+", Versions(4, OPEN)),
        ("none", NO_VERSIONS),
        (None, NO_VERSIONS),
    ],
)
def test_versions(text: str | None, versions: Versions) -> None:
    """Every form that Kafka uses is parsed."""
    assert Versions.parse(text) == versions


def test_versions_are_a_range() -> None:
    """Versions support membership, intersection, emptiness and iteration."""
    assert 2 in Versions(1, 3)
    assert "2" not in Versions(1, 3)
    assert Versions(1, 3) & Versions(3, OPEN) == Versions(3, 3)
    assert not Versions(1, 2) & Versions(3, 4)
    assert list(Versions(1, 3)) == [1, 2, 3]


def test_message() -> None:
    """A message has its own and common structs, an unstable version, and the fields of each version."""
    message = parse_message(RAW)
    assert (message.name, message.valid, message.versions) == ("XRequest", Versions(0, 4), Versions(0, 3))
    assert [struct.name for struct in message.structs] == ["Common", "Own"]
    assert [field.name for field in message.struct.plain(2)] == ["B", "A"]
    assert [field.name for field in message.struct.tagged(2)] == ["S", "T"]
    assert [field.name for field in message.struct.plain(0)] == ["B"]


def test_unknown_struct() -> None:
    """The error for an undefined type has its name."""
    with pytest.raises(ValueError, match="B: no struct Common"):
        parse_message({**RAW, "commonStructs": []})


def test_committed_extraction_is_of_the_pinned_jars() -> None:
    """A change of a pin needs a new extraction."""
    schemas = load()
    assert schemas.releases == tuple(Release(jar.version, jar.sha256) for jar in (NEWEST, OLDER))
    assert len(schemas.of_kind("request")) == len(schemas.of_kind("response")) > 80
