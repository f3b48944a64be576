# This module is pure (no I/O, no clock).
"""What people have written about an error code; the rest of an entry follows from the code itself.

The modules with the texts make these, `errors` puts them together with each code's class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

AGAIN: Final = "Nothing: the client tries again."
NOT_A_CLIENTS: Final = "Nothing in a client: brokers and controllers say this to each other."


@dataclass(frozen=True, slots=True)
class Text:
    """Sentences about one error code."""

    meaning: str
    advice: str
    """What a person should do."""
    client: str = ""
    """What is known of client libraries, beyond the class: from a KIP, a measurement of kproxy's, or their sources."""
    kproxy: str = ""
    """When kproxy itself answers with the code."""
    kip: int | None = None
    """The KIP that brought the code."""
