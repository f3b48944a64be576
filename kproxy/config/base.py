"""The base of every settings model: frozen, strict about keys, with errors that name the key at fault.

Pydantic validates the models whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, NoReturn, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import InitErrorDetails, PydanticCustomError

Path = tuple[str | int, ...]


class Settings(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ConsistentSettings(Settings):
    """Settings that have to fit together."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := [*self._problems()]:
            refuse(found)
        return self

    @abstractmethod
    def _problems(self) -> Iterable[tuple[Path, str]]:
        """Return what does not fit: each problem with its key, relative to the model."""


def refuse(problems: Iterable[tuple[Path, str]]) -> NoReturn:
    """Raise a ValidationError from inside a validator: each problem with its key, relative to the model."""
    details = [
        InitErrorDetails(type=PydanticCustomError("refused", "{reason}", {"reason": reason}), loc=path, input=None)
        for path, reason in problems
    ]
    raise ValidationError.from_exception_data("settings", details)


def checked_text(value: Any) -> str:
    """Return the value; raises ValueError, which does not show it, for what is no text."""
    if not isinstance(value, str):
        raise ValueError("must be text (in quotation marks, if it looks like something else)")
    return value


def dotted(path: Path) -> str:
    """Return the path as people write it: `clusters.0.listen`."""
    return ".".join(map(str, path))


def split_commas(value: Any) -> Any:
    """Return the parts of a string with commas; pass anything else on to pydantic."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def also_written_as(schema: JsonSchemaValue, handler: GetJsonSchemaHandler, *forms: JsonSchemaValue) -> JsonSchemaValue:
    """Return the JSON Schema of a model with its short forms added, so that editors do not flag them."""
    mapping = handler.resolve_ref_schema(schema)
    named = {key: mapping.pop(key) for key in ("title", "description") if key in mapping}
    return named | {"anyOf": [*forms, mapping]}
