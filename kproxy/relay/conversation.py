"""A request that the proxy answers after asking the broker, as it stands among the requests in flight. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kproxy.relay.requests import RequestFlow
    from kproxy.relay.verdicts import Parked, Steps


class Conversation:
    """`requests` is the flow that waits for its end; `answer`, once over, is the client's or what it will come from."""

    __slots__ = ("_steps", "answer", "requests")

    def __init__(self, steps: Steps, requests: RequestFlow) -> None:
        self._steps = steps
        self.requests = requests
        self.answer: bytes | Parked | None = None

    def step(self, response: bytes | None) -> bytes | None:
        """The broker's response in, None to begin; its next request out, None when there is an answer instead."""
        try:
            return next(self._steps) if response is None else self._steps.send(response)
        except StopIteration as over:
            self.answer = over.value
            return None

    def abandon(self) -> None:
        """The connection has ended."""
        self._steps.close()
