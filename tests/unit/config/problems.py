"""The problems of a configuration as lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from kproxy.config import ConfigProblems, load
from kproxy.config.base import dotted
from kproxy.config.reasons import reason, worth_reporting


def problems_of(model: type[BaseModel], data: Any) -> list[str]:
    """Return `key: reason` for each problem of `data`; fail when there is none."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    return [f"{dotted(e['loc'])}: {reason(e, model)}" for e in worth_reporting(caught.value.errors())]


def lines_of(file: Path | None, overrides: Mapping[str, Any] | None = None, **environ: str) -> list[str]:
    """Return the lines of the error that `load` raises; fail when it raises none."""
    with pytest.raises(ConfigProblems) as caught:
        load(file, overrides, environ)
    return str(caught.value).splitlines()
