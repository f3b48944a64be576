"""codegen.generate: files are up to date, and only made from schemas that the generator understands."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen import generate
from codegen.codecs import codec
from codegen.extraction import Schemas, load
from codegen.schema import Message, Versions, parse_message
from codegen.skims import skims
from codegen.source import condition
from codegen.table import api_table

ROOT = Path(generate.__file__).parent.parent


def message(*fields: dict[str, Any], name: str = "MetadataResponse") -> Message:
    """Return a response with the given fields."""
    raw = {"name": name, "type": "response", "apiKey": 3, "validVersions": "0-3", "flexibleVersions": "1+"}
    return parse_message({**raw, "fields": list(fields)})


def test_generated_files_are_up_to_date() -> None:
    """`make check` requires this."""
    assert generate.stale() == []


def test_check_fails_on_drift(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A changed, a missing and a superfluous file are each reported; writing repairs all."""
    monkeypatch.setattr(generate, "GENERATED", tmp_path)
    generate.write()
    (tmp_path / "metadata_request.py").write_text("# changed")
    (tmp_path / "skims.py").unlink()
    (tmp_path / "old.py").write_text("")
    assert generate.stale() == ["metadata_request.py", "old.py", "skims.py"]
    generate.write()
    assert generate.stale() == []


def test_command_line() -> None:
    """`python -m codegen --check`, as the Makefile calls it, needs no network and no Java."""
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "--check"],
        cwd=ROOT,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("versions", "within", "expected"),
    [
        (Versions(0, 9), Versions(2, 5), "True"),
        (Versions(6, 9), Versions(2, 5), "False"),
        (Versions(4, 9), Versions(2, 5), "version >= 4"),
        (Versions(0, 3), Versions(2, 5), "version <= 3"),
        (Versions(3, 4), Versions(2, 5), "3 <= version <= 4"),
        (Versions(3, 3), Versions(2, 5), "version == 3"),
    ],
)
def test_condition(versions: Versions, within: Versions, expected: str) -> None:
    """The shortest condition is returned."""
    assert condition(versions, within) == expected


HOST = {"name": "Host", "type": "string", "versions": "0+"}
PORT = {"name": "Port", "type": "int32", "versions": "0+"}


NULLABLE = {"name": "S", "type": "S", "versions": "0+", "nullableVersions": "1+", "fields": [PORT]}
NODE = {"name": "NodeId", "type": "int32", "versions": "0+"}
NAMES = {"name": "Names", "type": "[]string", "versions": "0+"}


@pytest.mark.parametrize(
    ("field", "version", "written"),
    [
        (NULLABLE, 0, b"\0\0\0\1"),
        (NULLABLE, 1, b"\1\0\0\0\1\0"),
        (NULLABLE, 1, b"\xff"),
        (NAMES, 0, b"\0\0\0\2\0\1a\0\2bc"),
        (NAMES, 0, b"\xff\xff\xff\xff"),
        (NAMES, 1, b"\3\2a\3bc"),
        (NAMES, 1, b"\0"),
    ],
)
def test_walks_find_an_address_behind(field: dict[str, Any], version: int, written: bytes) -> None:
    """Structs and arrays of strings, there or null, are passed over in both encodings."""
    made: dict[str, Any] = {}
    exec(skims(Schemas((), {"MetadataResponse": message(field, NODE, HOST, PORT)}, ())), made)
    address = b"\0\0\0\5\2h\0\0\0\7\0" if version else b"\0\0\0\5\0\1h\0\0\0\7"
    found: list[Any] = []
    made["SKIMS"][3, version](written + address, 0, len(written + address), found, [])
    assert [one[:3] for one in found] == [(5, "h", 7)]


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (
            {"name": "S", "type": "S", "versions": "0+", "nullableVersions": "1+", "fields": [PORT]},
            "nullable in some of its versions",
        ),
        ({"name": "T", "type": "int8", "versions": "0+", "taggedVersions": "1+", "tag": 0}, "some of its versions"),
    ],
)
def test_codecs_refuse_what_they_do_not_know(field: dict[str, Any], reason: str) -> None:
    """The same for codecs."""
    with pytest.raises(ValueError, match=reason):
        codec(message(field), "0")


def test_request_and_response_have_the_same_versions() -> None:
    """The table has one range for both."""
    schemas = load()
    changed = replace(schemas.messages["FetchResponse"], valid=Versions(4, 99))
    with pytest.raises(ValueError, match="FetchRequest and FetchResponse differ"):
        api_table(replace(schemas, messages=schemas.messages | {"FetchResponse": changed}))
