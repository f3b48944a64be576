"""A well-behaved client beside others that misbehave: it must not notice them."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from tests.support.beside import Beside
from tests.support.raw import RawClient, api_versions, metadata

EVERY = 0.02


class Healthy(Beside):
    """Asks for metadata again and again on one connection, in a thread; notes each round trip in seconds."""

    def __init__(self, port: int) -> None:
        super().__init__(f"healthy at {port}")
        self.round_trips: list[float] = []
        self.error: Exception | None = None
        self._client = RawClient(port)

    @property
    def slowest(self) -> float:
        """The longest round trip, in seconds."""
        return max(self.round_trips)

    def __enter__(self) -> Self:
        self._client.ask(api_versions(0))
        self._ask()
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._client.close()
        if error is None:
            assert self.error is None, f"the client beside was affected: {self.error!r}"

    def _run(self) -> None:
        try:
            while not self._done.wait(EVERY):
                self._ask()
        except Exception as error:  # reported by __exit__
            self.error = error

    def _ask(self) -> None:
        begun = time.monotonic()
        self._client.ask(metadata(len(self.round_trips)))
        self.round_trips.append(time.monotonic() - begun)
