"""`kproxy demo` as a user runs it: on a mock and on a real Kafka, with and without a terminal, interrupted, killed."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kproxy.local_kafka.processes import kill_group
from tests.support import proc
from tests.support.wait import until

KPROXY = str(Path(sys.executable).with_name("kproxy"))
END_TIMEOUT = 20.0


class Demo:
    """A `kproxy demo` process with its files in `out`; its output goes to `out/said`."""

    def __init__(self, out: Path, *options: str) -> None:
        self.out = out
        self._said, self._complained = out / "said", out / "complained"
        command = [KPROXY, "demo", "--out", str(out), *options]
        with self._said.open("wb") as said, self._complained.open("wb") as complained:
            self.process = subprocess.Popen(command, stdout=said, stderr=complained, process_group=0)

    @property
    def said(self) -> str:
        return self._said.read_text()

    @property
    def complained(self) -> str:
        return self._complained.read_text()

    def wait_load(self) -> set[int]:
        """Wait until records flow; return the ids of the demo's processes, without its own."""
        log = self.out / "clients.log"
        until(lambda: log.exists() and '"sample"' in log.read_text(), "records flow", timeout=90)
        return proc.family(self.process.pid) - {self.process.pid}

    def wait(self, timeout: float) -> int:
        """Wait for its end; return the exit code."""
        return self.process.wait(timeout)


@contextmanager
def demo(out: Path, *options: str) -> Iterator[Demo]:
    """Run a demo, which is killed at the end if it still runs."""
    running = Demo(out, *options)
    try:
        yield running
    finally:
        kill_group(running.process)


def gone(pids: set[int]) -> bool:
    """True when none of the processes exists any more."""
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def part(pids: set[int], words: str) -> int:
    """Return the process with these words in its command line."""
    (found,) = [pid for pid in pids if words in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")]
    return found


def check_result(out: Path, backend: str) -> None:
    """Check the picture, and the run's results in the JSON file."""
    assert (out / "kproxy-demo.png").read_bytes().startswith(b"\x89PNG")
    summary = json.loads((out / "kproxy-demo.json").read_text())
    verdict = summary["verdict"]
    assert summary["backend"] == backend
    assert [check["ok"] for check in summary["checks"]] == [True] * len(summary["checks"])
    assert verdict["sent"] == verdict["acknowledged"] == verdict["received"] > 1000
    assert (verdict["lost"], verdict["duplicates"]) == (0, 0)
    assert len(summary["nodes"]) == len({node["told"] for node in summary["nodes"]}) == 3
    assert sorted(partition for held in summary["members"].values() for partition in held) == [0, 1, 2, 3]
    within = [moment["in_kproxy_p50_ms"] for moment in summary["moments"]]
    assert all(latency is None or latency > 0 for latency in within)
    assert any(within), "null is for a moment in which nothing was answered"


def test_without_a_terminal(tmp_path: Path) -> None:
    """A run takes under a minute: exit code 0, plain lines, a picture, nothing left."""
    with demo(tmp_path, "--seconds", "4") as running:
        parts = running.wait_load()
        assert len(parts) == 3
        assert running.wait(60) == 0, running.complained
        assert gone(parts)
        assert "\x1b" not in running.said
        assert running.complained == ""
        assert "kproxy drained and ended with exit code 0" in running.said
        assert str(tmp_path / "kproxy-demo.png") in running.said
    check_result(tmp_path, "librdkafka's mock cluster")


def test_hosted_groups(tmp_path: Path) -> None:
    """kproxy coordinates the group; its generations are shown as a third member joins and leaves."""
    with demo(tmp_path, "--seconds", "10", "--hosted-groups") as running:
        parts = running.wait_load()
        assert running.wait(60) == 0, running.complained + running.said
        assert gone(parts)
    check_result(tmp_path, "librdkafka's mock cluster")
    generations = json.loads((tmp_path / "kproxy-demo.json").read_text())["generations"]
    assert [len(one["held"]) for one in generations[-3:]] == [2, 3, 2]
    for one in generations[-3:]:
        assert sorted(partition for held in one["held"].values() for partition in held) == [0, 1, 2, 3]
    for number in (one["number"] for one in generations):
        assert f"the group is Stable, generation {number}: demo-" in running.said
    assert "a member joined the group that kproxy hosts, and left it" in running.said


def test_on_a_terminal(tmp_path: Path) -> None:
    """The demo shows the live screen, then the summary; the cursor comes back."""
    controller, terminal = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    command = [KPROXY, "demo", "--out", str(tmp_path), "--seconds", "3"]
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, env=environ, process_group=0)
    os.close(terminal)
    said = b""
    try:
        while piece := _read(controller):
            said += piece
        assert process.wait(60) == 0, said.decode()
    finally:
        kill_group(process)
        os.close(controller)
    shown = said.decode()
    for text in ("clients are told", "produce to consume", "within kproxy", "✓"):
        assert text in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # a terminal with its other side closed
        return b""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_in_the_middle(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """Ctrl-C and SIGTERM: the conventional exit code, one line, nothing left."""
    with demo(tmp_path, "--seconds", "60") as running:
        parts = running.wait_load()
        running.process.send_signal(number)
        assert running.wait(END_TIMEOUT) == code
        assert gone(parts)
        assert running.said.splitlines()[-1] == f"stopped by {number.name}; nothing is left running"
        assert running.complained == ""


@pytest.mark.parametrize(
    ("words", "name"),
    [("kproxy serve", "kproxy serve"), ("mock_broker", "the mock cluster"), ("demo.workload", "the clients")],
)
def test_a_part_that_dies(words: str, name: str, tmp_path: Path) -> None:
    """Exit code 1, one line that names it, nothing left."""
    with demo(tmp_path, "--seconds", "60") as running:
        parts = running.wait_load()
        os.kill(part(parts, words), signal.SIGKILL)
        assert running.wait(END_TIMEOUT) == 1
        assert gone(parts)
        (line,) = running.complained.splitlines()
        assert line.startswith(f"kproxy demo: {name} ended early, killed by SIGKILL")


def test_killed(tmp_path: Path) -> None:
    """Even SIGKILL, which no process can handle, leaves nothing running."""
    with demo(tmp_path, "--seconds", "60") as running:
        parts = running.wait_load()
        running.process.kill()
        until(lambda: all(_dead(pid) for pid in parts), "the parts are dead", timeout=END_TIMEOUT)


def _dead(pid: int) -> bool:
    """True for a process that is gone, or a zombie that this machine's init does not collect."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    """An unwritable output gives one line and exit code 1; nothing was started."""
    (tmp_path / "file").touch()
    command = [KPROXY, "demo", "--out", str(tmp_path / "file" / "deeper")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("kproxy demo: ")
    assert "Not a directory" in line


def test_a_real_kafka_that_stays(tmp_path: Path) -> None:
    """Apache Kafka 4.3.1: the same checks; then the demo stays up, its printed commands work, and Ctrl-C ends it."""
    with demo(tmp_path, "--kafka", "--stay", "--seconds", "4") as running:
        until(lambda: "Ctrl-C ends it" in running.said or running.process.poll() is not None, "up", timeout=200)
        assert running.process.poll() is None, running.complained
        check_result(tmp_path, "Apache Kafka 4.3.1")
        for path in ("readyz", "api/v1/clusters", "api/v1/connections", "metrics"):
            command = next(line for line in running.said.splitlines() if line.startswith("curl") and path in line)
            shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, timeout=30).stdout
            assert "ready" in shown if path == "readyz" else shown
        parts = proc.family(running.process.pid) - {running.process.pid}
        assert len(parts) >= 5
        running.process.send_signal(signal.SIGINT)
        assert running.wait(END_TIMEOUT) == 0, running.complained
        assert gone(parts)
