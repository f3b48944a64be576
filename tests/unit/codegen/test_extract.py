"""codegen.extract: from the jar's JSON to the committed extraction."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from codegen.extract import parse_json, read_jar, slim
from codegen.schema import SCHEMAS, Field, load


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


def test_fields_survive() -> None:
    """Nullability, tags and defaults are in the extraction."""
    rack = load().messages["FetchResponse"].struct.fields[-1]
    assert isinstance(rack, Field)
    assert (rack.name, rack.tag, rack.struct is not None) == ("NodeEndpoints", 0, True)
