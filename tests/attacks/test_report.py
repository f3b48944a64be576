"""The table of `make attack`: which goals count as missed, and what a median of rounds is."""

from __future__ import annotations

from typing import Any

import pytest

from .attack import Attack, Steps, Target
from .measured import Found
from .report import missed, table
from .test_table import violations


def _steps(target: Target) -> Steps:
    del target
    yield


_ATTACK = Attack("storm", 7, "a storm", _steps)


def _found(slowest: float = 10, **changed: Any) -> Found:
    """Return a round in which all goals are met, except for what is given."""
    livez = {"slowest": 5.0, "failed": 0, "failure": ""}
    quiet = {"relay": {"p50": 0.3, "p99": 1.0, "slowest": 2.0, "failed": 0}, "livez": livez}
    attacked = {"relay": {"p50": 0.4, "p99": 3.0, "slowest": slowest, "busy": 4.0, "failed": 0}, "livez": livez}
    values: dict[str, Any] = {
        "alive": True,
        "quiet": quiet,
        "attacked": attacked,
        "seconds": 5.0,
        "memory_before": 50.0,
        "memory_peak": 60.0,
        "memory_after": 51.0,
        "given_back": 1.0,
        "files_before": 20,
        "files_peak": 400,
        "files_after": 20,
        "facts": {"push": "kept", "ready": True},
    }
    return Found(**(values | changed))


def test_all_met() -> None:
    """Nothing is missed, and the row says so."""
    assert missed(_ATTACK, [_found()]) == []
    assert "| met " in table([_ATTACK], {"storm": {"kproxy": [_found()]}})


@pytest.mark.parametrize(
    ("changed", "goal"),
    [
        ({"slowest": 53}, "slowest"),
        ({"memory_peak": 120.0}, "memory"),
        ({"given_back": None}, "given back"),
        ({"alive": False}, "ended"),
        ({"facts": {"push": "answered OK and dropped"}}, "push"),
        ({"facts": {}}, "push"),
    ],
)
def test_missed(changed: dict[str, Any], goal: str) -> None:
    """Each goal is looked at by itself."""
    assert missed(_ATTACK, [_found(**changed)]) == [goal]


def test_healthy_clients() -> None:
    """A failed probe, or a healthy client's broken connection, is missed in whatever round it was."""
    broken = _found()
    broken.attacked["relay"] = {**broken.attacked["relay"], "failed": 1}
    assert missed(_ATTACK, [_found(), broken, _found()]) == ["connection"]


def test_new_connections() -> None:
    """Where there is TLS, the figures of new connections are shown, and one that failed is missed."""
    greeted = {"p99": 9.0, "failed": 0}
    found = _found()
    found.quiet["greeted"], found.attacked["greeted"] = greeted, {**greeted, "p99": 12.5}
    assert missed(_ATTACK, [found]) == []
    assert "new connections: p99 9.0 → 12.5 ms" in table([_ATTACK], {"storm": {"kproxy": [found]}})
    found.attacked["greeted"] = {"p99": 60_000.0, "failed": 1}
    assert missed(_ATTACK, [found]) == ["handshakes"]


def test_no_answer_at_all() -> None:
    """A healthy client that got no answer counts as slow without end."""
    silent = _found()
    silent.attacked["relay"] = {"failed": 0}
    assert "slowest" in missed(_ATTACK, [silent])
    assert "| never |" in table([_ATTACK], {"storm": {"kproxy": [silent]}})


def test_median() -> None:
    """One slow round of three does not decide, two do."""
    assert missed(_ATTACK, [_found(), _found(slowest=500), _found()]) == []
    assert missed(_ATTACK, [_found(slowest=500), _found(slowest=500), _found()]) == ["slowest"]


def test_failed_over() -> None:
    """Where there are two upstreams, the first one must still be active."""
    attack = Attack("descriptors", 8, "descriptors", _steps, upstreams=True)
    facts = {"push": "kept", "upstream": "second"}
    assert missed(attack, [_found(facts=facts)]) == ["failed over"]
    assert missed(attack, [_found(facts=facts | {"upstream": "first"})]) == []


_LIVEZ, _RELAY = {"slowest": 5.0, "failed": 0, "failure": ""}, {"busy": 4.0, "failed": 0, "failure": ""}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, []),
        ({"alive": False}, ["the process ended"]),
        ({"memory_peak": 120.0}, ["storm: memory +70 MiB"]),
        ({"given_back": None}, ["storm: memory or descriptors not given back in 60 s: 50 → 51 MiB, 20 → 20"]),
        ({"attacked": {"relay": {**_RELAY, "failed": 1}, "livez": _LIVEZ}}, ["storm: 1 requests of a healthy client"]),
        ({"attacked": {"relay": _RELAY, "livez": {**_LIVEZ, "failed": 1}}}, ["storm: 1 probes failed"]),
        (
            {"attacked": {"relay": {**_RELAY, "busy": 60_000.0}, "livez": _LIVEZ}},
            ["storm: 60,000 ms of processor"],
        ),
        ({"facts": {"push": "kept"}}, ["storm: kproxy is not ready"]),
        ({"facts": {"push": "refused with 89", "ready": True}}, ["storm: a legitimate push is refused with 89"]),
    ],
)
def test_what_a_row_of_the_tests_is_told(changed: dict[str, Any], told: list[str]) -> None:
    """Each column is looked at by itself."""
    found = violations(_ATTACK, _found(**{"attacked": {"relay": _RELAY, "livez": _LIVEZ}, **changed}))
    assert len(found) == len(told)
    assert all(one.startswith(begin) for one, begin in zip(found, told, strict=True))
