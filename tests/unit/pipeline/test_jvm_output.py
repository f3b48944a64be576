"""kproxy.pipeline.jvm_output: what a process says at its start is kept, what it says later is passed on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kproxy.pipeline.jvm_output import captured

TALKS = """
import sys
print("fifty lines about jars", file=sys.stderr, flush=True)
print("ready", flush=True)
sys.stdin.read()
print("a warning", file=sys.stderr, flush=True)
"""


def said(*lines: str) -> str | None:
    """Why a process ended that said these lines."""
    with captured() as output:
        subprocess.run([sys.executable, "-c", f"import sys; sys.stderr.write({chr(10).join(lines)!r})"], check=True)
    return output.failure()


def test_a_package_that_cannot_be_fetched() -> None:
    """It is named as Maven names it."""
    line = 'Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: io.delta#d;4.0.1: not found]'
    assert said("Ivy Default Cache set to: x", line) == "it cannot fetch io.delta:d:4.0.1 from Maven Central"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('Exception in thread "main" org.apache.spark.SparkException: Master must be', "Master must be"),
        ("Error: Could not find or load main class x", "Could not find or load main class x"),
        ("26/11/24 WARN Utils: your hostname", None),
    ],
)
def test_whatever_ended_it(line: str, reason: str | None) -> None:
    """The text of what was thrown, without the name of its class."""
    assert said(line, "\tat org.apache.spark.deploy.SparkSubmit.main") == reason


def test_later_lines_are_passed_on(tmp_path: Path) -> None:
    """To what is standard error of this process; those of the start are not."""
    program = f"""
import subprocess, sys
from kproxy.pipeline.jvm_output import captured
with captured() as output:
    talker = subprocess.Popen([sys.executable, "-c", {TALKS!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    talker.stdout.readline()
    output.started()
talker.communicate()
output._thread.join(10)
print("my own", file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.splitlines()[-2:] == ["a warning", "my own"]
    # The reader may meet the first line only after `started`; then it is passed on as well.
    assert len(done.stderr.splitlines()) <= 3
