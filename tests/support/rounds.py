"""Producers of many libraries that send in rounds: the next begins when every record of the last has its answer."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from kproxy.local_kafka.processes import kill_group
from tests.support.senders import Sender
from tests.support.wait import until

Only = Literal["", "begin", "commit"]
Mode = Literal["idempotent", "transactional"]
ROUND = 150.0
"""Seconds for a round: longer than any library tries to deliver a record, except librdkafka's 300 s."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a library's producers report of one round: `failed` has the error by value."""

    round: int
    acked: Sequence[str]
    failed: Mapping[str, str]
    replaced: int
    seconds: float

    def then(self, later: Result) -> Result:
        """Return this part of a round and the later one, as one."""
        failed, replaced = {**self.failed, **later.failed}, self.replaced + later.replaced
        return Result(self.round, [*self.acked, *later.acked], failed, replaced, self.seconds + later.seconds)


@dataclass
class Program:
    """A library's process with its producers; it ends when its standard input does, or is killed."""

    sender: Sender
    command: Sequence[str]
    log: Path
    results: list[Result] = field(default_factory=list)
    _process: subprocess.Popen[str] | None = field(init=False, default=None)

    def ask(self, order: Mapping[str, Any]) -> None:
        """Start a round, which `answered` waits for."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.poll() is None, f"{self.sender.label} ended by itself:\n{self.tail()}"
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()

    def answered(self, deadline: float) -> Result:
        """Return the result of the last round; AssertionError at the deadline, or when the process has ended."""
        known = len(self.results)
        what = f"a round of {self.sender.label}; its output ends:\n{self.tail()}"
        until(lambda: len(self._answers()) > known, what, deadline - time.monotonic())
        self.results.append(Result(**json.loads(self._answers()[-1])))
        return self.results[-1]

    def tail(self, length: int = 3000) -> str:
        """Return the end of its output."""
        return self.log.read_text(errors="replace")[-length:]

    def end(self, deadline: float) -> None:
        """Close its standard input; it closes its producers and ends by itself."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(max(0.1, deadline - time.monotonic()))
        assert code == 0, f"{self.sender.label} ended with exit code {code}:\n{self.tail()}"

    def _answers(self) -> list[str]:
        assert self._process is not None
        found = [line for line in self.log.read_text(errors="replace").splitlines() if line.startswith('{"round"')]
        assert self._process.poll() is None, f"{self.sender.label} ended by itself:\n{self.tail()}"
        return found

    def __enter__(self) -> Self:
        # The end of this process closes the program's standard input, so that it ends then, too.
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, text=True, process_group=0
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        kill_group(self._process)  # type: ignore[arg-type]
        self._process.stdin.close()


class Programs:
    """The programs of several libraries, which do each round at the same time."""

    def __init__(
        self, senders: Sequence[Sender], bootstrap: str, producers: int, directory: Path, mode: Mode = "idempotent"
    ) -> None:
        self.all = [
            Program(one, one.command(bootstrap, producers, mode, directory), directory / f"{one.label}-{mode}.log")
            for one in senders
        ]
        self._producers, self._round = producers, 0

    def round(self, topic: str, records: int = 1, only: Only = "") -> dict[Sender, Result]:
        """Send so many records from every producer to partition 0; return when each is acknowledged or has failed."""
        self._round += only != "commit"  # a commit ends the round that was begun
        order = {"round": self._round, "topic": topic, "partition": 0, "records": records, "do": only}
        deadline = time.monotonic() + ROUND
        for program in self.all:
            program.ask(order)
        return {program.sender: program.answered(deadline) for program in self.all}

    @property
    def producers(self) -> list[str]:
        """The names of all producers, which are their transactional ids."""
        return [f"{one.sender.label}-{number}" for one in self.all for number in range(self._producers)]

    def end(self) -> None:
        """Let all of them close their producers and end."""
        deadline = time.monotonic() + 30
        for program in self.all:
            program.end(deadline)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for program in self.all:
                stack.enter_context(program)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
