# This module is pure (no I/O, no clock).
"""What a walk found in a frame: begun by the relay while the frame arrived, or done now where it came at once.

Handlers of the APIs whose policies have a `request_walk` or a `response_walk` call it for each frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kproxy.protocol.context import Context
from kproxy.wire.arriving import ArrivingWalk

W = TypeVar("W", bound=ArrivingWalk)


def walked(context: Context, frame: memoryview, kind: type[W], make: Callable[[], W]) -> W:
    """Return the walk over this frame, taken to its end; raise `MalformedMessageError` if it does not end there.

    The next room's handler of the same frame gets the same walk.
    """
    walk = context.walk
    if not isinstance(walk, kind):
        walk = context.walk = make()
    walk.look(frame, 0, len(frame))
    walk.finish(len(frame))
    return walk
