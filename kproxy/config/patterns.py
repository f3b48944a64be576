# This module is pure (no I/O, no clock).
"""Regexes of users, for RE2: matching takes time linear in the text, whatever the pattern.

Rooms with patterns among their settings compile them when they start, and at each reload; `kproxy.config` itself does
not, since most configurations have none.
"""

from __future__ import annotations

from typing import Final

import re2

_MEMORY: Final = 1 << 20
"""Bytes of RE2's automaton; it starts anew when they are used up."""


def compiled(pattern: str) -> re2._Regexp:
    """Return the regex; raises `ValueError` with the reason for what RE2 refuses, as look-around or back references."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(error.args[0].decode("utf-8", "replace")) from error
    except UnicodeEncodeError as error:  # of a variable's bytes that are no UTF-8; it prints badly
        raise ValueError(error.reason) from error
