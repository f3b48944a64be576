"""Message JSON inside the kafka-clients jar -> `schemas.json`: names, types, versions; no prose."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any, Final

from codegen.jar import SHA256, VERSION, kafka_clients
from codegen.schema import SCHEMAS

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
    """Write `target` from the pinned jar, which is fetched when it is not in the cache."""
    messages = [
        slim(raw) for raw in read_jar(kafka_clients()) if raw["type"] in ("request", "response") or raw["name"] in _DATA
    ]
    lines = ",\n".join(json.dumps(message, separators=(",", ":")) for message in messages)
    head = f'{{"kafka_clients":"{VERSION}","sha256":"{SHA256}","messages":[\n'
    target.write_text(f"{head}{lines}\n]}}\n", encoding="utf-8")


def _wanted(raw: dict[str, Any]) -> bool:
    return raw["type"] in ("request", "response") or raw["name"] in _DATA


def read_jar(jar: Path) -> list[dict[str, Any]]:
    """Every message schema in the jar, by name."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.startswith(_FOLDER) and name.endswith(".json")]
        return [parse_json(archive.read(name).decode("utf-8")) for name in sorted(names)]


def parse_json(text: str) -> dict[str, Any]:
    """JSON with `//` comments."""
    plain = _COMMENT_OR_STRING.sub(lambda match: match[0] if match[0].startswith('"') else "", text)
    result: dict[str, Any] = json.loads(plain)
    return result


def slim(raw: dict[str, Any]) -> dict[str, Any]:
    """A message with only what the generator reads."""
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
