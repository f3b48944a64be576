"""Each attack against a real process with a healthy client beside it, on bounds that the machine's load hardly moves.

A test fails on every bound that is passed, together: processor time of kproxy between a healthy client's request and
its answer, memory, that memory and descriptors are given back, probes, that client's connection, whether kproxy is
ready, and what became of a legitimate push. The slowest answers are figures, bounded where figures are measured. How
long an attack lasted, and what it was answered, is its own: an attack that ended early has lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from tests.bench.process import raise_file_limit
from tests.bench.targets import program
from tests.support.bounds import Bounds
from tests.support.proc import open_files, rss_bytes
from tests.support.raw import HOST
from tests.support.share import BUSY, pace
from tests.support.wait import stays, until

from .attack import Attack, Target
from .attacker import FILES
from .catalogue import ATTACKS
from .measured import FILES_GIVEN_BACK, Found, measure
from .setting import ATTACKED, Real, brokers, kafka, setting

MEMORY: Final = 64
"""MiB."""
_QUIET: Final = 0.5
_ROUNDS: Final = 3
"""What kproxy does wrong it does in every round; what the machine's host does to a single request, in hardly any."""
_GIVEN_BACK: Final = 60
"""Seconds after the attack, as in `make attack`."""
_SLOWEST: Final = 0.5
"""Seconds of a healthy client's request or probe, in plain Python, with attackers on the same two processors."""
_EXHAUSTED: Final = 5  # seconds: longer than failover.after
_LEAK: Final = 2 << 20
"""Bytes: 512 of each of 4,000 connections. 0.6 MiB are measured."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the tests: for how long it attacks at most, and what it proves."""

    seconds: float
    proves: str


ROWS: Final = {
    "empty-attributes": Row(20, "attributes are counted before they are read and kept"),
    "pipelined-pushes": Row(60, "a connection's pushes wait for each other, and their decoding has a budget"),
    "client-id-attributes": Row(30, "removing a client's own attributes takes linear time"),
    "all-series": Row(30, "one client cannot take all series"),
    "nested-values": Row(20, "values in values are counted before they are read"),
    "fresh-instances": Row(10, "requests for subscriptions take turns with others"),
    "codec-bombs": Row(30, "no codec inflates beyond the limit, and frames are bounded"),
    "describe-configs": Row(20, "two million resources are not decoded in one step"),
    "incremental-alter": Row(20, "two million resources are not decoded in one step"),
    "list-configs": Row(20, "eight million types are not decoded in one step"),
    "half-sent": Row(3, "connections that nobody knows yet do not hold 8 MiB each"),
    "long-client-ids": Row(2, "names are cut when they arrive"),
    "pipelined-ascending": Row(3, "a connection has so many frames a turn"),
    "pipelined-descending": Row(3, "ids in use are looked up in a set"),
    "unanswered": Row(5, "a connection's requests in flight are bounded when it is read"),
    "unread-metadata": Row(4, "who does not read is not answered without end"),
    "unread-fetches": Row(3, "who does not read holds no memory"),
    "metadata-flood": Row(4, "connections take turns, however many requests are there"),
    "unacknowledged": Row(3, "requests without a response take turns, too"),
    "trickling-broker": Row(2, "a broker's tiny segments do not hold others up"),
    "huge-join": Row(2, "what passes unread costs nothing"),
    "connect-storm": Row(3, "accepting takes turns with relaying"),
    "first-request-storm": Row(3, "so does dialling brokers"),
    "reset-storm": Row(3, "so does ending connections"),
    "hello-and-nothing": Row(5, "addresses take turns, and who lets others wait makes room"),
    "no-hello": Row(3, "who has said nothing takes no place of a handshake"),
    "hello-by-bytes": Row(5, "nor does who has said half of a hello"),
    "whole-handshakes": Row(5, "handshakes begin at a pace"),
    "junk-after-hello": Row(3, "a handshake that fails leaves its place"),
    "second-hello": Row(3, "so does one that begins anew"),
    "plaintext-on-tls": Row(3, "what is no hello is refused before OpenSSL has it"),
    "half-logins": Row(5, "addresses take turns at logging in, and who lets others wait makes room"),
    "no-login": Row(3, "who has said nothing takes no place of a login"),
    "guesses": Row(5, "passwords are checked beside the relay, two at a time"),
    "junk": Row(2, "what is no request is refused, and nothing is kept of it"),
    "unread-log": Row(4, "a standard error that nobody reads stops nothing"),
    "slow-heads": Row(4, "probes have room of their own"),
    "hostile-names": Row(3, "a page of connections is built in slices"),
    "unread-pages": Row(3, "pages that nobody reads are bounded"),
    "pipelined-heads": Row(2, "requests on the admin port take turns"),
    "http-junk": Row(2, "what is no HTTP is refused"),
}


def violations(attack: Attack, found: Found) -> list[str]:
    """Return every bound that was passed, for people."""
    if not found.alive:
        return ["the process ended"]
    busiest, relay, livez = BUSY * pace() * 1000, found.attacked["relay"], found.attacked["livez"]
    push = found.facts.get("push", "not answered")
    given_back = f"{found.memory_before:.0f} → {found.memory_after:.0f} MiB, {found.files_before} → {found.files_after}"
    greeted = found.attacked.get("greeted", {"failed": 0, "failure": ""})
    checks = {
        f"{found.busy:,.0f} ms of processor time for others during a healthy client's request": found.busy > busiest,
        f"memory +{found.grown:,.0f} MiB": found.grown > MEMORY,
        f"{relay['failed']} requests of a healthy client failed: {relay['failure']}": relay["failed"],
        f"{livez['failed']} probes failed: {livez['failure']}": livez["failed"],
        f"{greeted['failed']} new connections of a healthy client failed: {greeted['failure']}": greeted["failed"],
        f"memory or descriptors not given back in {_GIVEN_BACK} s: {given_back}": found.given_back is None,
        "kproxy is not ready": found.facts.get("ready") is not True,
        f"a legitimate push is {push}": push != "kept",
    }
    return [f"{attack.name}: {what}" for what, so in checks.items() if so]


@pytest.fixture(scope="module")
def real() -> Iterator[Real]:
    """A Kafka for all attacks that need a real one."""
    with kafka() as running:
        yield running


@pytest.mark.parametrize("name", ROWS)
def test_attack(name: str, tmp_path: Path, request: pytest.FixtureRequest, bounds: Bounds) -> None:
    """The row's `proves`."""
    raise_file_limit(FILES)
    row = ROWS[name]
    attack = replace(ATTACKS[name], seconds=row.seconds)
    for _ in range(_ROUNDS):
        found = measure(attack, program(), tmp_path, _GIVEN_BACK, _QUIET, lambda: request.getfixturevalue("real"))
        if not (passed := violations(attack, found)):
            for client, seen in found.attacked.items():
                bounds.below(seen["slowest"] / 1000, _SLOWEST, f"seconds of the slowest: {client}")
            return
    raise AssertionError(f"{row.proves}: {passed}, in each of {_ROUNDS} rounds")


def test_descriptors_used_up(tmp_path: Path) -> None:
    """Descriptors that clients used up fail no healthy primary over, and probes still have one (issue 18, row 8)."""
    raise_file_limit(FILES)
    attack = ATTACKS["descriptors"]
    with brokers("first", [ATTACKED]) as (first, _), brokers("second", [ATTACKED]) as (second, _):
        upstreams = {"first": f"{HOST}:{first[ATTACKED]}", "second": f"{HOST}:{second[ATTACKED]}"}
        with setting(program(), tmp_path, attack, upstreams) as made:
            target = Target(made.port, made.admin_port, _EXHAUSTED)
            try:
                for _ in attack.steps(target):
                    pass
                assert made.get("/livez", timeout=5)[0] == 200
            finally:
                target.close()
            # With the first free descriptors the other upstream could be reached, and switched to.
            stays(lambda: made.upstream() == "first", "a healthy primary was failed over", _EXHAUSTED)


@pytest.mark.parametrize("name", [name for name in ROWS if ATTACKS[name].reserve])
def test_reserve(name: str, tmp_path: Path, real: Real) -> None:
    """Memory that was not given back is used again: the same attack, twice more, takes none."""
    raise_file_limit(FILES)
    attack, after = ATTACKS[name], list[int]()
    with setting(program(), tmp_path, attack, {"first": real[0]}) as made:
        files = open_files(made.process.pid)
        for _ in range(3):
            target = Target(made.port, made.admin_port, ROWS[name].seconds)
            for _ in attack.steps(target):
                pass
            target.close()
            until(lambda: open_files(made.process.pid) <= files + FILES_GIVEN_BACK, "the attack's connections end")
            after.append(rss_bytes(made.process.pid))
    assert after[-1] - after[0] < _LEAK, after


def test_every_attack_is_named() -> None:
    """A row without an attack would test nothing."""
    assert ROWS.keys() <= ATTACKS.keys()
