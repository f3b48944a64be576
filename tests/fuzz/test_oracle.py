"""The fuzzer would notice: what its oracles refuse, what becomes of a finding, and that any bytes are a script."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
import structlog

from tests.fuzz import findings
from tests.fuzz.findings import Findings, smallest
from tests.fuzz.mutations import mutated
from tests.fuzz.script import Script, decode
from tests.fuzz.targets import frame_order
from tests.fuzz.targets.frame_order import check_requests, check_responses
from tests.fuzz.targets.target import ViolationError, faults_are_noted, run
from tests.unit.relay import frames

HEARTBEAT, METADATA = frames.HEARTBEAT, 3
PING, PONG = zip(*(frames.heartbeat(number) for number in range(1, 4)), strict=True)
PLAIN = frozenset({HEARTBEAT})


class Picky:
    """A target that finds fault with a letter, by an exception or only in the log."""

    kinds: int = 1
    most: int = 100
    seeds: Sequence[bytes] = (Script.of([(0, b"fine")]).encode(),)

    def run(self, data: bytes) -> None:
        if b"x" in data:
            raise ValueError("x")
        if b"y" in data:
            try:
                raise KeyError("y")
            except KeyError:
                structlog.get_logger().exception("survived")

    def close(self) -> None:
        """There is nothing."""


def test_any_bytes_are_a_script() -> None:
    """What is encoded is decoded; noise and changed scripts are scripts, too."""
    rng = Random(1)
    script = Script.of([(0, b"first"), (255, b""), (3, bytes(70_000))], b"abc")
    assert decode(script.encode()) == script
    assert len(script.steps[2].data) == 0xFFFF
    data = script.encode()[:40]
    for _ in range(500):
        data = mutated(data, rng, Picky.seeds, 4)[:500]
        assert decode(decode(data).encode()) == decode(data)
    assert decode(b"") == Script(bytes(3), ())


@pytest.mark.parametrize(
    ("to_broker", "well"),
    [
        (PING[0] + PING[1], True),
        (PING[0] + PING[1][:9], True),
        (PING[1] + PING[0], False),
        (PING[0] + PING[0], False),
        (PING[0].replace(b"\0\x0c", b"\0\x0b", 1), True),  # an API that a room may write itself
        (PING[0][:-1] + b"!", False),
    ],
    ids=["all", "cut off", "swapped", "twice", "another API", "changed"],
)
def test_what_the_broker_may_get(to_broker: bytes, well: bool) -> None:
    """Requests that no room reads are passed on unchanged, in order, once."""
    sent = frame_order.requests(b"".join(PING))
    with contextlib.nullcontext() if well else pytest.raises(ViolationError):
        check_requests(sent, to_broker, PLAIN)


@pytest.mark.parametrize(
    ("to_client", "well"),
    [
        (PONG[0] + PONG[1], True),
        (PONG[0] + PONG[1][:9], True),
        (PONG[1], False),
        (PONG[0] + PONG[0], False),
        (PONG[0][:-1] + b"!", False),
        (b"\0\0\0\x05" + PONG[0][4:] + PONG[1], False),
    ],
    ids=["in order", "cut off", "one left out", "twice", "changed", "a wrong size"],
)
def test_what_the_client_may_get(to_client: bytes, well: bool) -> None:
    """Responses come in the order of the requests, in frames of their size, as the broker wrote them."""
    sent = frame_order.requests(b"".join(PING))
    with contextlib.nullcontext() if well else pytest.raises(ViolationError):
        check_responses(sent, b"".join(PONG), to_client, PLAIN)


def test_only_produce_goes_without_a_response() -> None:
    """A Produce request with acks=0 may be passed over, also one with the correlation id of the request behind it."""
    produce = frames.produce(9, 1, acks=0)
    check_responses(frame_order.requests(produce + PING[1]), PONG[1], PONG[1], PLAIN)
    check_responses(frame_order.requests(produce + PING[0] + PING[1]), PONG[0] + PONG[1], PONG[0] + PONG[1], PLAIN)


@pytest.fixture
def _faults_noted() -> Iterator[None]:
    before = structlog.get_config()
    faults_are_noted()
    yield
    structlog.configure(**before)


@pytest.mark.usefixtures("_faults_noted")
def test_a_finding_is_kept_once_and_small(tmp_path: Path) -> None:
    """Of two inputs with the same fault one is kept, without what the fault does not need; faults in the log count."""
    found = Findings(Picky(), tmp_path / "found")
    for data in (b"a long x one", b"another x", b"with a y in it", b"fine"):
        found.take(Script.of([(0, b"before"), (0, data), (0, b"after")]).encode())
    assert sorted(found.counts.values()) == [1, 2]
    kept = {file.name: decode(file.read_bytes()).steps for file in (tmp_path / "found").glob("*.bin")}
    assert sorted(steps[0].data for steps in kept.values()) == [b"x", b"y"]
    assert all("Error" in file.read_text() for file in (tmp_path / "found").glob("*.txt"))


def test_what_is_slow_or_large_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """An input that takes longer than its time, or more than its memory, is refused."""
    kept: list[bytearray] = []

    class Greedy(Picky):
        def run(self, data: bytes) -> None:
            kept.append(bytearray(b"\1" * (8 << 20)) if data else bytearray())

    monkeypatch.setattr(findings, "MOST_BYTES", 4 << 20)
    with pytest.raises(findings.LargeError):
        findings.bounded(Greedy(), b"all")
    monkeypatch.setattr(findings, "MOST_SECONDS", 0.0)
    with pytest.raises(findings.SlowError):
        findings.bounded(Greedy(), b"")


def test_nothing_smaller_than_needed() -> None:
    """What is made small still has all that its fault needs, of several steps."""
    script = Script.of([(0, b"..a.."), (0, b"-----"), (0, b"..b..")]).encode()
    small = smallest(script, lambda data: b"a" in data and b"b" in data[data.index(b"a") :])
    assert [step.data for step in decode(small).steps] == [b"a", b"b"]
    run(Picky(), small)


def test_a_worker_ends_with_what_it_did(tmp_path: Path) -> None:
    """A process fuzzes a target until it has done so many inputs, says so, and exits with 0."""
    command = [sys.executable, "-m", "tests.fuzz.worker", "config", "--inputs", "40", "--seconds", "100"]
    done = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert (said["target"], said["inputs"], said["findings"]) == ("config", 40, {})
