"""All attacks by name, in the order in which they are made."""

from __future__ import annotations

from typing import Final

from . import admin, configs, connections, handshakes, logins, pushes, requests
from .attack import Attack

_ALL: Final = (
    *pushes.ATTACKS,
    *configs.ATTACKS,
    *connections.ATTACKS,
    *handshakes.ATTACKS,
    *logins.ATTACKS,
    *requests.ATTACKS,
    *admin.ATTACKS,
)

ATTACKS: Final[dict[str, Attack]] = {attack.name: attack for attack in _ALL}
