"""Names of topics in settings: what Kafka accepts."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


def check_topic(name: str) -> str:
    """Return the name; raise ValueError when Kafka does not accept it as a topic's name."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise ValueError(f"{name!r} is no topic: at most 249 letters, digits, '.', '_' and '-'")
    return name


Topic = Annotated[str, AfterValidator(check_topic)]
