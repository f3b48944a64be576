# This module is pure (no I/O, no clock).
"""The one place where an error code in an answer to kproxy becomes an exception, whose class says what to do about it.

Whoever sends one of kproxy's own requests calls `check`; `kproxy.upstream.retries` and the callers obey.
"""

from __future__ import annotations

from kproxy.errors import RefusedError
from kproxy.errors.kip_1050 import of_code
from kproxy.errors.refused import OF_CLASS
from kproxy.wire.error_codes import error_name
from kproxy.wire.generated.error_codes import ErrorCode


def refused(api: str, code: int, *, asked: str = "", said: str = "") -> RefusedError:
    """Return the exception of an error code; `asked` is what was asked about, `said` what the broker says of it."""
    kind = OF_CLASS[of_code(code, from_produce=api == "Produce")]
    return kind(api, code, error_name(code), asked=asked, said=said)


def check(api: str, code: int, *, asked: str = "", said: str = "") -> None:
    """Raise RefusedError, of the code's class, for any code but NONE."""
    if code != ErrorCode.NONE:
        raise refused(api, code, asked=asked, said=said)
