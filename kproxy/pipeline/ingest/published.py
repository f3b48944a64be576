"""The schemas of what kproxy writes, read from the published files: the pipeline imports nothing of the proxy."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


@cache
def pushes() -> StructType:
    """A line of the `files` receiver: one push, or one resource of a push with several."""
    return _read("telemetry")


@cache
def events() -> StructType:
    """A line of the event stream."""
    return _read("events")


@cache
def arrow_pushes() -> pa.Schema:
    """`pushes` in Arrow."""
    return to_arrow_schema(pushes())


def _read(name: str) -> StructType:
    return StructType.fromJson(json.loads(files("kproxy").joinpath("schemas", f"{name}.json").read_text()))
