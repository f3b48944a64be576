"""Puts pydantic's errors into kproxy's words, on one line.

`kproxy.config.load` calls it when a configuration is invalid, and `ByType` for receivers and the events' destinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from kproxy.config.base import Path
from kproxy.config.secret import masked_reason
from kproxy.config.similar import hint

_LONGEST: Final = 60
_KINDS: Final = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of reasonable size",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text (in quotation marks, if it looks like something else)",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
}

_SECRET: Final = frozenset({"receivers", "destinations", "headers", "options", "identity"})
"""Settings that have secrets in them. A text in the place of one may be a secret, too."""


def worth_reporting(errors: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the errors without those about lists that are too short only because their items are wrong."""
    places = {error["loc"][:length] for error in errors for length in range(len(error["loc"]))}
    return [error for error in errors if error["type"] != "too_short" or error["loc"] not in places]


def reason(error: ErrorDetails, root: type[BaseModel]) -> str:
    """Return the reason of an error, on one line and without secrets; `root`, the validated model, suggests a key."""
    return masked_reason(_reason(error, root))


def _reason(error: ErrorDetails, root: type[BaseModel]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing":
        return "is required"
    if kind == "too_short":
        return "must not be empty"
    if kind == "extra_forbidden":
        return _unknown_key(error["loc"], root)
    if kind in _KINDS:
        bounds = {name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in context.items()}
        return f"{_KINDS[kind].format(**bounds)}, not {_shown(error)}"
    return str(context.get("error") or error["msg"])


def _shown(error: ErrorDetails) -> str:
    value = error["input"]
    if isinstance(value, str) and not _SECRET.isdisjoint(error["loc"]):
        return "text"
    if isinstance(value, int | float) and "identity" in error["loc"]:  # YAML takes a password of digits for a number
        return "a number"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "empty"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _unknown_key(path: Path, root: type[BaseModel]) -> str:
    known = sorted(_model_at(path[:-1], root).model_fields)
    return "is no setting" + (hint(str(path[-1]), known) or f"; known here: {', '.join(known)}")


def _model_at(path: Path, model: type[BaseModel]) -> type[BaseModel]:
    for key in path:
        if isinstance(key, str):
            model = _inner(model.model_fields[key].annotation)
    return model


def _inner(annotation: Any) -> type[BaseModel]:
    """Return the model inside tuple[X, ...] or X | None."""
    while not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        annotation = annotation.__args__[0]
    return annotation
