"""codegen.extract: from the jar's JSON to the committed extraction."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from codegen.extract import parse_json, read_jar, removed, slim
from codegen.extraction import SCHEMAS, load
from codegen.schema import Field


def test_comments() -> None:
    """Comments are removed; two slashes in a string stay."""
    assert parse_json('{ // no "comment"\n "a": "b//c", // more\n "d": "\\"//" }') == {"a": "b//c", "d": '"//'}


def test_only_messages_of_a_jar(tmp_path: Path) -> None:
    """Other files in the jar are ignored."""
    with zipfile.ZipFile(tmp_path / "x.jar", "w") as jar:
        jar.writestr("common/message/B.json", '{"name": "B"}')
        jar.writestr("common/message/A.json", '{"name": "A"}')
        jar.writestr("common/message/README.md", "no")
        jar.writestr("other/C.json", "{}")
    assert [message["name"] for message in read_jar(tmp_path / "x.jar")] == ["A", "B"]


def test_prose_stays_behind() -> None:
    """Keys that the generator does not read are dropped, at any depth."""
    field = {"name": "F", "type": "[]S", "versions": "0+", "about": "prose", "mapKey": True}
    inner = {"name": "G", "type": "int8", "versions": "0+", "about": "prose"}
    raw = {"name": "X", "type": "request", "about": "prose", "fields": [field | {"fields": [inner]}]}
    raw["commonStructs"] = [{"name": "C", "versions": "0+", "fields": [inner]}]
    assert "prose" not in json.dumps(slim(raw))
    assert "about" not in SCHEMAS.read_text(encoding="utf-8")


def test_flexible_versions_of_a_single_field() -> None:
    """They are refused: no body has such a field so far, and the generator would encode it wrongly."""
    with pytest.raises(ValueError, match="flexible versions of its own"):
        slim({"name": "X", "type": "request", "fields": [{"name": "F", "type": "string", "flexibleVersions": "none"}]})


def of(name: str, versions: str, key: int = 1, **more: object) -> dict[str, Any]:
    """A message as it is extracted."""
    return {"name": name, "type": "request", "apiKey": key, "validVersions": versions, "listeners": ["broker"], **more}


def test_what_the_newest_has_removed() -> None:
    """Messages that had lower versions; not those of today, not unstable ones, not what brokers sent each other."""
    newest = [of("A", "3-5", 1), of("B", "0-2", 2), of("C", "1-2", 3), of("D", "none", 4)]
    older = [
        of("A", "0-4", 1),
        of("B", "0-1", 2),
        of("C", "0", 3, latestVersionUnstable=True),
        of("D", "0-7", 4, listeners=["zkBroker"]),
    ]
    assert removed(newest, older) == [older[0]]


def test_an_api_that_the_newest_has_removed() -> None:
    """Nobody is to lose it unnoticed."""
    with pytest.raises(ValueError, match="no version of Gone"):
        removed([of("A", "0-1")], [of("A", "0-1"), of("Gone", "0-1", 9)])


def test_fields_survive() -> None:
    """Nullability, tags and defaults are in the extraction."""
    rack = load().messages["FetchResponse"].struct.fields[-1]
    assert isinstance(rack, Field)
    assert (rack.name, rack.tag, rack.struct is not None) == ("NodeEndpoints", 0, True)
