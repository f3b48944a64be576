"""Work that may hang or fail, and callbacks that may be at fault, without harm to the task that has to go on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ParamSpec

import structlog
import trio

from kproxy.errors import KproxyError

P = ParamSpec("P")

log = structlog.get_logger("kproxy.topology")


async def attempted(work: Callable[[], Awaitable[None]], limit: float) -> str | None:
    """Runs `work` for at most `limit` seconds; why it failed, or None."""
    try:
        with trio.fail_after(limit):
            await work()
    except trio.TooSlowError:
        return f"not done within {limit:g} s; check the network and the brokers' load"
    except KproxyError as error:
        return str(error)
    except Exception:
        log.exception("a fault in kproxy: please report it")
        return "a fault in kproxy; the log has the traceback"
    return None


def tell(callback: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Calls `callback`; what it raises is logged as the fault that it is."""
    try:
        callback(*args, **kwargs)
    except Exception:
        log.exception("a fault in kproxy: please report it")
