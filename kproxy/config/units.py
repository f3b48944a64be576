"""Types of settings: bounded numbers, and seconds and bytes as people write them: `10s`, `500ms`, `2m`, `100MiB`.

They parse the settings whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

INT32_MAX: Final = 2**31 - 1
_SECONDS: Final = {"": Decimal(1), "ms": Decimal("0.001"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600)}
_BYTES: Final = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_QUANTITY: Final = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?) *([A-Za-z]*)")
DURATION_PATTERN: Final = r"^\s*[0-9]{1,18}(\.[0-9]{1,18})? *(ms|s|m|h)?\s*$"
SIZE_PATTERN: Final = r"^\s*[0-9]{1,18}(\.[0-9]{1,18})? *([kKmMgG][iI]?)?[bB]?\s*$"
_NO_DURATION: Final = "is not a duration; write seconds, or for instance 500ms, 10s, 2m"
_NO_SIZE: Final = "is not a size; write bytes, or for instance 64KiB, 100MiB, 1GiB"


@dataclass(frozen=True, slots=True, eq=False)  # hashable by identity, as Annotated requires
class Written:
    """The ways to write a number, for pydantic and for the JSON Schema (editors must not flag `10s`).

    `parse` turns a string into the number or raises ValueError; it passes other values on to the `number` schema.
    """

    number: CoreSchema
    parse: Callable[[Any], Any]
    pattern: str | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        forms = [self.number, core_schema.str_schema(pattern=self.pattern)] if self.pattern else [self.number]
        return core_schema.no_info_before_validator_function(
            self.parse, self.number, json_schema_input_schema=core_schema.union_schema(list(forms))
        )


def whole(lowest: int, highest: int | None = None) -> Written:
    """Return the type of a whole number from `lowest` to `highest`, both included."""
    return Written(core_schema.int_schema(ge=lowest, le=highest), parse_whole)


def seconds(**bounds: float) -> Written:
    """Return the type of a finite number of seconds; `bounds` have pydantic's names: gt, ge, lt, le."""
    number = core_schema.float_schema(allow_inf_nan=False, **bounds)  # type: ignore[arg-type]
    return Written(number, parse_seconds, DURATION_PATTERN)


def frame_bytes() -> Written:
    """Return the type of a number of bytes that a frame's size field (an int32) can hold."""
    return Written(core_schema.int_schema(ge=1, le=INT32_MAX), parse_bytes, SIZE_PATTERN)


def byte_count() -> Written:
    """Return the type of a number of bytes, at least 1."""
    return Written(core_schema.int_schema(ge=1), parse_bytes, SIZE_PATTERN)


def parse_whole(value: Any) -> Any:
    """Refuse booleans, which pydantic would take for 0 and 1 (`yes` is a boolean in YAML)."""
    if isinstance(value, bool):
        raise ValueError(f"{value} is not a whole number")
    return value


def parse_seconds(value: Any) -> Any:
    """Return the seconds of `10s`, `500ms`, `2m`, `1h`."""
    if isinstance(value, bool):
        raise ValueError(f"{value} {_NO_DURATION}")
    if not isinstance(value, str):
        return value
    match = _QUANTITY.fullmatch(value.strip())
    if not match or match[2] not in _SECONDS:
        raise ValueError(f"{value!r} {_NO_DURATION}")
    return float(Decimal(match[1]) * _SECONDS[match[2]])


def parse_bytes(value: Any) -> Any:
    """Return the bytes of `100MiB`, `64kB`."""
    if isinstance(value, bool):
        raise ValueError(f"{value} {_NO_SIZE}")
    if not isinstance(value, str):
        return value
    match = _QUANTITY.fullmatch(value.strip())
    if not match or match[2].lower() not in _BYTES:
        raise ValueError(f"{value!r} {_NO_SIZE}")
    size = Decimal(match[1]) * _BYTES[match[2].lower()]
    if size != size.to_integral_value():
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)
