"""Reads a secret from a file: a password, a token, a client's secret. Errors show none of what is in it.

`authenticate` and `TokenCache` read one whenever they send it, so that a new secret counts at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kproxy.errors import bare_reason

_LARGEST: Final = 64 * 2**10


def secret_in(file: str) -> str:
    """Return the secret; one line end at its end is no part of it. Blocks; raises ValueError with file and reason."""
    try:
        return _read(Path(file))
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be used: {bare_reason(error).lower()}") from None


def _read(file: Path) -> str:
    with file.open("rb") as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST} bytes")
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:  # its text would show the bytes
        raise ValueError("it is not UTF-8 text") from None
