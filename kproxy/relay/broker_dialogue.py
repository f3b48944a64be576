# This module is pure (no I/O, no clock).
"""A request in flight that the proxy answers after it has asked the broker.

The request flow begins one when a policy must ask the broker first. The response flow hands it each response of the
broker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kproxy.protocol.outcomes import Answer, Deferred, Forward

if TYPE_CHECKING:
    from kproxy.protocol.outcomes import AskBroker, Incremental, Steps


class Waiting(Protocol):
    """The client's requests, which wait for a dialogue's end."""

    def go_on(self, now: float) -> None:
        """Take what was held behind the dialogue."""

    def wait_for(self, answer: Incremental) -> None:
        """Hold it until the dialogue's answer, which is worked out in steps, is there."""


class BrokerDialogue:
    """Runs the `steps` of an `AskBroker` for one request in flight."""

    __slots__ = ("_steps", "own", "request", "requests")

    def __init__(self, steps: Steps, requests: Waiting, *, own: bool = False) -> None:
        self._steps = steps
        self.requests = requests
        """The flow that waits for the dialogue's end."""
        self.own = own
        """True where kproxy asks on its own, and no request of the client's is counted or answered."""
        self.request = b""
        """The frame of the question that the broker gets next."""

    def step(self, response: bytes | None) -> Answer | Deferred | None:
        """Take the broker's response, None to begin; return the client's answer, or None and set the next `request`."""
        try:
            self.request = next(self._steps) if response is None else self._steps.send(response)
        except StopIteration as over:
            return over.value if isinstance(over.value, Deferred) else Answer(over.value)
        return None

    def abandon(self) -> None:
        """End the steps: the connection has ended."""
        self._steps.close()


Decision = Forward | Answer | Deferred | BrokerDialogue
"""What becomes of a request, once it is known whether the broker must be asked."""


def begun(ask: AskBroker, requests: Waiting) -> Decision:
    """Begin a dialogue; return it with its first question, or the client's answer where it asks nothing."""
    dialogue = BrokerDialogue(ask.steps, requests)
    answer = dialogue.step(None)
    return dialogue if answer is None else answer
