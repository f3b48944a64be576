# This module is pure.
"""A request that the proxy answers after asking the broker, as it stands among the requests in flight. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.protocol.outcomes import Answer, Deferred, Forward

if TYPE_CHECKING:
    from kproxy.protocol.outcomes import AskBroker, Steps
    from kproxy.relay.flow import Flow


class Conversation:
    """`requests` is the flow that waits for its end; `request` the frame that the broker is asked."""

    __slots__ = ("_steps", "request", "requests")

    def __init__(self, steps: Steps, requests: Flow) -> None:
        self._steps = steps
        self.requests = requests
        self.request = b""

    def step(self, response: bytes | None) -> Answer | Deferred | None:
        """The broker's response in, None to begin; the client's answer out, None where there is another `request`."""
        try:
            self.request = next(self._steps) if response is None else self._steps.send(response)
        except StopIteration as over:
            return over.value if isinstance(over.value, Deferred) else Answer(over.value)
        return None

    def abandon(self) -> None:
        """The connection has ended."""
        self._steps.close()


Decision = Forward | Answer | Deferred | Conversation
"""What becomes of a request, once it is known whether the broker must be asked."""


def begun(converse: AskBroker, requests: Flow) -> Decision:
    """The conversation with its first request made; the client's answer where the broker has not to be asked."""
    conversation = Conversation(converse.steps, requests)
    answer = conversation.step(None)
    return conversation if answer is None else answer
