"""What a stage came to, and the table of all. No second chance hides a stage that broke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

FLAKY_MOST: Final = 8
"""More failures than this are run again by nobody."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One line of why, whether in set-up, call or tear-down, whether one occurrence is proof (`Violation`), and whether
    the test has bounds on time, CPU or memory."""

    message: str
    when: str = "call"
    violation: bool = False
    measured: bool = False


@dataclass(slots=True)
class Again:
    """A test that was run again: its first message, and whether both runs passed."""

    nodeid: str
    message: str
    passed: bool


@dataclass(slots=True)
class Result:
    """One stage: tests that passed, were skipped, failed, and why it broke, if it did. `load` is the machine's mean."""

    name: str
    seconds: float
    load: float = 0.0
    tail: str = ""
    passed_tests: int = 0
    skipped: int = 0
    failed: dict[str, Failure] = field(default_factory=dict)
    broken: str = ""
    may_run_again: list[str] = field(default_factory=list)
    again: list[Again] = field(default_factory=list)

    @property
    def flaky(self) -> list[Again]:
        """What failed, and passed twice alone."""
        return [one for one in self.again if one.passed]

    @property
    def passed(self) -> bool:
        """Whether nothing broke, and all that failed was flaky."""
        return not self.broken and len(self.flaky) == len(self.failed)

    @property
    def collapsed(self) -> bool:
        """Whether many tests failed for one reason before they began: a cluster that all share is down."""
        reasons = {(why.when, why.message) for why in self.failed.values()}
        return len(self.failed) > FLAKY_MOST and len(reasons) == 1 and reasons.pop()[0] == "setup"

    @property
    def summary(self) -> str:
        """One line."""
        counts = f"{self.passed_tests} passed, {len(self.failed)} failed, {self.skipped} skipped, {self.seconds:.0f} s"
        return f"{counts}; {self.broken}" if self.broken else counts


def lines(result: Result) -> str:
    """Return a line for each test that failed."""
    return "\n".join(f"FAILED {nodeid}: {why.message}" for nodeid, why in result.failed.items())


def table(results: Sequence[Result]) -> str:
    """Return the whole run: a line for each stage, those that were flaky, those that failed, and the plain sum."""
    rows = [f"{'stage':10} {'passed':>7} {'failed':>7} {'flaky':>6} {'seconds':>8} {'load':>5}"]
    for one in results:
        failed = len(one.failed) - len(one.flaky)
        counts = f"{one.name:10} {one.passed_tests:7} {failed:7} {len(one.flaky):6} {one.seconds:8.0f} {one.load:5.1f}"
        rows.append(f"{counts}  {one.broken}".rstrip())
        rows.extend(f"  flaky: {again.nodeid}: {again.message}" for again in one.flaky)
        flaky = {again.nodeid for again in one.flaky}
        rows.extend(f"  failed: {nodeid}: {why.message}" for nodeid, why in one.failed.items() if nodeid not in flaky)
    failed = sum(len(one.failed) - len(one.flaky) + bool(one.broken) for one in results)
    passed = sum(one.passed_tests + len(one.flaky) for one in results)
    return "\n".join([*rows, f"{passed} passed, {failed} failed"])
