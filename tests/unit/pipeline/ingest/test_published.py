"""kproxy/schemas/telemetry.json: it describes what the `files` receiver writes, whatever a client pushes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

import kproxy
from kproxy.telemetry.receivers.json_lines import lines
from tests.unit.telemetry.receivers.pushes import gauge, histogram, push, summary, total

SCHEMA = json.loads((Path(kproxy.__file__).parent / "schemas" / "telemetry.json").read_text())
PYTHON: dict[str, type | tuple[type, ...]] = {"string": str, "long": int, "double": (int, float), "boolean": bool}


def misfits(value: Any, kind: Any, where: str = "") -> Iterator[str]:
    """Where a value is not of Spark's type, or has a field that the type lacks."""
    if value is None:
        return
    if isinstance(kind, str):
        if not isinstance(value, PYTHON[kind]) or (isinstance(value, bool) and kind != "boolean"):
            yield f"{where}: {value!r} is no {kind}"
    elif kind["type"] == "array":
        for each in value:
            yield from misfits(each, kind["elementType"], f"{where}[]")
    elif kind["type"] == "map":
        for key, each in value.items():
            yield from misfits(each, kind["valueType"], f"{where}.{key}")
    else:
        fields = {field["name"]: field["type"] for field in kind["fields"]}
        for name, each in value.items():
            if name not in fields:
                yield f"{where}.{name} is not in the schema"
            else:
                yield from misfits(each, fields[name], f"{where}.{name}")


def test_misfits_are_found() -> None:
    """A field that is not there, and values of another type, however deep."""
    of = {"received_at": 1, "x": 2, "metrics": [{"value": "3", "bounds": [True]}]}
    assert list(misfits(of, SCHEMA)) == [
        ".received_at: 1 is no string",
        ".x is not in the schema",
        ".metrics[].value: '3' is no double",
        ".metrics[].bounds[]: True is no double",
    ]


def test_every_kind_of_metric_fits() -> None:
    """And every field of the schema is written."""
    exponential = Metric(name="e")
    exponential.exponential_histogram.data_points.add(count=3, sum=2.0, scale=1, zero_count=1).positive.bucket_counts[
        :
    ] = [2]
    distributions = histogram("h", [1.0], [1, 2], 5.0), summary("s", 2, 3.0, {0.5: 1.0}), exponential
    pushed = push(gauge("g", 1.5), total("t", 3, start=5), *distributions, resource={"client_rack": "r"})
    (line,) = [json.loads(line) for line in lines(pushed, {"cluster": "main", "proxy": "kproxy-0"}) if line]
    assert list(misfits(line, SCHEMA)) == []
    written = set(line) | {name for point in line["metrics"] for name in point}
    point = next(field["type"]["elementType"] for field in SCHEMA["fields"] if field["name"] == "metrics")
    assert written == {field["name"] for field in [*SCHEMA["fields"], *point["fields"]]}
