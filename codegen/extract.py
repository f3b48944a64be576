"""Extracts messages and error codes of the kafka-clients jars into `schemas.json`: names, types, versions; no prose.

Of the older jar only the messages are taken that have versions below those of the newest.

`python -m codegen --extract` runs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from codegen.extraction import SCHEMAS
from codegen.jar import NEWEST, OLDER, ClientsJar
from codegen.schema import parse_message
from kproxy.local_kafka import java

_ERROR_CODES: Final = Path(__file__).with_name("ErrorCodes.java")
_FOLDER: Final = "common/message/"
_COMMENT_OR_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*')
_MESSAGE_KEYS: Final = (
    "name",
    "type",
    "apiKey",
    "validVersions",
    "flexibleVersions",
    "latestVersionUnstable",
    "listeners",
    "fields",
    "commonStructs",
)
_FIELD_KEYS: Final = (
    "name",
    "type",
    "versions",
    "nullableVersions",
    "taggedVersions",
    "tag",
    "default",
    "ignorable",
    "fields",
)
_DATA: Final = ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")  # the other data messages stay on brokers


def extract(target: Path = SCHEMAS) -> None:
    """Write `target` from the pinned jars, fetching those that are not in the cache."""
    newest = _messages(NEWEST)
    older = removed(newest, _messages(OLDER))
    target.write_text(
        f'{{{_pin(NEWEST)},"errors":[\n{_lines(parse_errors(_error_codes()))}\n],"messages":[\n{_lines(newest)}\n],'
        f'"older":{{{_pin(OLDER)},"messages":[\n{_lines(older)}\n]}}}}\n',
        encoding="utf-8",
    )


def _messages(jar: ClientsJar) -> list[dict[str, Any]]:
    return [slim(raw) for raw in read_jar(jar.path()) if _wanted(raw)]


def _pin(jar: ClientsJar) -> str:
    return f'"kafka_clients":"{jar.version}","sha256":"{jar.sha256}"'


def removed(newest: Iterable[dict[str, Any]], older: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the older messages with versions below those of the newest.

    An API that the newest release has no version of is not among them: those were between brokers of ZooKeeper's time.
    Nor is one that was not stable yet, which only the request says. ValueError for an API that clients could send.
    """
    lowest = {message.name: message.valid.low for raw in newest if (message := parse_message(raw)).valid}
    parsed = [(raw, parse_message(raw)) for raw in older]
    there = {parse_message(raw).api_key for raw in newest}
    if gone := [one.name for _, one in parsed if "broker" in one.listeners and one.api_key not in there]:
        raise ValueError(f"the newest release has no version of {', '.join(gone)}, which clients may send")
    stable = {one.api_key for _, one in parsed if one.kind == "request" and one.versions}
    return [raw for raw, one in parsed if one.api_key in stable and one.valid.low < lowest.get(one.name, 0)]


def _lines(entries: Iterable[Any]) -> str:
    return ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)


def _wanted(raw: dict[str, Any]) -> bool:
    return raw["type"] in ("request", "response") or raw["name"] in _DATA


def _error_codes() -> str:
    """Return the output of ErrorCodes.java: no data file of the jar has the codes."""
    command = java.command(NEWEST.classpath(), str(_ERROR_CODES))
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def parse_errors(printed: str) -> list[tuple[int, str, bool]]:
    """Return code, name, and whether Java clients may retry it; by ascending code."""
    rows = [line.split() for line in printed.splitlines()]
    return sorted((int(code), name, retriable == "true") for code, name, retriable in rows)


def read_jar(jar: Path) -> list[dict[str, Any]]:
    """Return every message schema in the jar, in order of the names."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.startswith(_FOLDER) and name.endswith(".json")]
        return [parse_json(archive.read(name).decode("utf-8")) for name in sorted(names)]


def parse_json(text: str) -> dict[str, Any]:
    """Parse JSON with `//` comments."""
    plain = _COMMENT_OR_STRING.sub(lambda match: match[0] if match[0].startswith('"') else "", text)
    result: dict[str, Any] = json.loads(plain)
    return result


def slim(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a message with only the keys that the generator reads."""
    message: dict[str, Any] = {key: raw[key] for key in _MESSAGE_KEYS if key in raw}
    message["fields"] = [_slim_field(field) for field in raw.get("fields", ())]
    if "commonStructs" in raw:
        message["commonStructs"] = [
            {"name": struct["name"], "fields": [_slim_field(field) for field in struct["fields"]]}
            for struct in raw["commonStructs"]
        ]
    return message


def _slim_field(raw: dict[str, Any]) -> dict[str, Any]:
    if "flexibleVersions" in raw:
        raise ValueError(f"{raw['name']} has flexible versions of its own, which the generator does not know")
    field: dict[str, Any] = {key: raw[key] for key in _FIELD_KEYS if key in raw}
    if "fields" in raw:
        field["fields"] = [_slim_field(inner) for inner in raw["fields"]]
    return field
