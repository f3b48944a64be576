"""What a client did about an error, from what its application saw and which requests kproxy saw. Pure.

The application's steps are those of the drivers (tests/support/clients/conformance.py): the first one that fails is
the one that the error was surfaced by, `again` is the same client afterwards, `anew` another instance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from tests.conformance.cases import Case


class Behaviour(Enum):
    """What a client did."""

    RETRIED = "retried"
    REFRESHED = "refreshed and retried"
    ABORTED = "aborted"
    GOES_ON = "surfaced, goes on"
    FATAL = "surfaced as fatal"
    DEAD = "surfaced, no instance works"
    IGNORED = "ignored"
    LOST = "ignored, records lost"
    HANGS = "hangs"
    NOT_SENT = "not sent"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the application. `error` is the error's name, `says` what the library calls it, `at` the end."""

    step: str
    ok: bool
    at: float
    error: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that kproxy saw. `hit` is true of the one that was answered by the error; `at` is its time."""

    api: str
    at: float
    hit: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """A cell as it was seen: steps and requests in their order, and the values that the application believes in.

    `believed` are those of transactions that were committed without an error, `written` what read_committed reads.
    """

    case: Case
    steps: Sequence[Step]
    requests: Sequence[Request]
    believed: Sequence[str] = ()
    written: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What was derived: `repeats` of the request until the first step that tells of the error has ended, and look-ups.

    `look_ups` are those of the step in which the error came, of the kind that the API needs: of a leader or of a
    coordinator. A look-up itself needs none.
    """

    behaviour: Behaviour
    error: str = ""
    says: str = ""
    repeats: int = 0
    look_ups: int = 0
    then: str = ""
    """The error of the same instance's next attempt, if that failed, too."""


_ANYWAY: Final = {"AddOffsetsToTxn": 1}
"""Look-ups that follow the API anyway: of the group's coordinator, where it is not known from before."""
TIMEOUTS: Final = frozenset({"hangs", "TimeoutException", "_TIMED_OUT", "KafkaTimeoutError", "DeadlineExceeded"})
"""Errors by which a library or a driver says only that a call took too long."""


def finding(seen: Observation) -> Finding:
    """Return what the client did."""
    hit = next((one for one in seen.requests if one.hit), None)
    if hit is None:
        return Finding(Behaviour.NOT_SENT)
    telling = _telling(seen.steps, hit.at)
    after = [one for one in seen.requests if hit.at <= one.at <= telling.at and not one.hit]
    repeats = [one.at for one in after if one.api == seen.case.api]
    meanwhile = [one for one in after if one.at <= _during(seen.steps, hit.at).at]
    look_ups = _look_ups(seen.case, meanwhile, repeats[0] if repeats else telling.at)
    found = _quietly(seen, len(repeats), look_ups) if telling.ok else _loudly(seen, telling)
    then = next((step.error for step in seen.steps if step.step == "again" and not step.ok), "")
    return Finding(found, telling.error, telling.says, len(repeats), look_ups, then)


def _look_ups(case: Case, after: Sequence[Request], repeat: float) -> int:
    """Count them, also those that the client starts at the error, but that are overtaken by the repeat."""
    found = [one.at for one in after if one.api == case.look_up]
    return max(sum(at <= repeat for at in found), len(found) - _ANYWAY.get(case.api, 0))


def _telling(steps: Sequence[Step], hit: float) -> Step:
    """Return the first step that failed after the error, or else the last one."""
    return next((step for step in steps if step.at >= hit and not step.ok), steps[-1])


def _during(steps: Sequence[Step], hit: float) -> Step:
    """Return the step in which the error came: what a later step looks up is its own affair."""
    return next((step for step in steps if step.at >= hit), steps[-1])


def _quietly(seen: Observation, repeats: int, look_ups: int) -> Behaviour:
    """Return what happened where the application saw nothing."""
    if set(seen.believed) - set(seen.written):
        return Behaviour.LOST
    if not repeats:
        return Behaviour.IGNORED
    return Behaviour.REFRESHED if look_ups else Behaviour.RETRIED


def _loudly(seen: Observation, failed: Step) -> Behaviour:
    """Return what happened where the application saw an error."""
    if failed.error in TIMEOUTS:
        return Behaviour.HANGS
    ok = {step.step: step.ok for step in seen.steps}
    if not ok.get("again"):
        return Behaviour.FATAL if ok.get("anew") else Behaviour.DEAD
    return Behaviour.ABORTED if ok.get("abort") else Behaviour.GOES_ON
