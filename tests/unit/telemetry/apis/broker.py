"""A broker on paper: it answers the requests of a dialogue, encoded and decoded as on a wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kproxy.protocol.ask_broker import Dialogue
from kproxy.telemetry.apis.dialogue import ALTER_CONFIGS, DESCRIBE_CONFIGS, Altered
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.describe_cluster_response import DescribeClusterResponse
from kproxy.wire.message import WireMessage

Answer = Callable[[Any], WireMessage | None]
MAY_BOTH = 1 << ALTER_CONFIGS | 1 << DESCRIBE_CONFIGS


@dataclass
class Broker:
    """`operations` are those that its authorizer allows; `answers` are by api key and override the broker's own two."""

    operations: int = MAY_BOTH
    apis: dict[int, tuple[int, int]] = field(default_factory=lambda: {18: (0, 4), 60: (0, 2), 74: (0, 1)})
    answers: dict[int, Answer] = field(default_factory=dict)
    asked: list[tuple[int, int, WireMessage]] = field(default_factory=list)

    def __post_init__(self) -> None:
        versions = [
            ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in self.apis.items()
        ]
        mine: dict[int, Answer] = {
            18: lambda request: ApiVersionsResponse(api_keys=versions),
            60: lambda request: DescribeClusterResponse(
                cluster_authorized_operations=self.operations
                if request.include_cluster_authorized_operations
                else -(2**31)
            ),
        }
        self.answers = mine | self.answers

    def talk(self, dialogue: Dialogue[Altered]) -> Altered:
        """Run the dialogue to its end."""
        answer: WireMessage | None = None
        while True:
            try:
                key, version, request = dialogue.send(answer)
            except StopIteration as end:
                outcome: Altered = end.value
                return outcome
            assert key == type(request).api_key  # type: ignore[attr-defined]
            self.asked.append((key, version, type(request).decode(request.encode(version), version)))
            answer = self.answers[key](self.asked[-1][2])
            if answer is not None:
                answer = type(answer).decode(answer.encode(version), version)

    @property
    def keys(self) -> list[int]:
        """The api keys of the requests to the broker, in order."""
        return [key for key, _, _ in self.asked]
