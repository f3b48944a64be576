"""`kproxy pipeline demo` as a user runs it: the sample of the default seed, interrupted, and where it may not write."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import proc
from tests.support.wait import until

COMMAND = (sys.executable, "-m", "kproxy", "pipeline", "demo", "--master", "local[2]")


@pytest.mark.timeout(1800)
def test_the_sample(tmp_path: Path) -> None:
    """All planted troubles are found and nothing else."""
    ran = subprocess.run([*COMMAND, "--out", "sample"], cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert lines[0] == "The report will be sample/report.html"
    stages = [line.split(":")[0] for line in lines if re.fullmatch(r"[a-z ]+: \d+ s", line)]
    assert stages == ["making the day", "reading it", "deriving tables", "rules and report"]
    shown = {match[1]: match[2] for match in re.finditer(r"^([a-z]+) {2,}(.+)$", ran.stdout, re.MULTILINE)}
    assert shown["clients"].startswith("200, in ")
    assert shown["troubles"].startswith("24 of 24 found, by 29 of 29")
    assert shown["verdict"] == "precision 1.000, recall 1.000"
    assert "\x1b" not in ran.stdout
    assert "✗" not in ran.stdout
    assert "broker-slow" in (tmp_path / "sample" / "report.html").read_text()
    assert {each.name for each in (tmp_path / "sample").iterdir()} == {
        ".kproxy-pipeline-demo",
        "input",
        "tables",
        "report.html",
    }


def test_a_directory_with_something_else(tmp_path: Path) -> None:
    """It is refused in a line."""
    (tmp_path / "mine").touch()
    ran = subprocess.run([*COMMAND, "--out", str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == (
        f"pipeline: out {tmp_path}: it is not empty, and `kproxy pipeline demo` did not write it; "
        "name another directory\n"
    )
    assert ran.stdout == ""


@pytest.mark.parametrize("stage", ["making the day", "reading it"])
def test_ctrl_c(stage: str, tmp_path: Path) -> None:
    """On a terminal, in Python's part and in Spark's: it ends soon, with one line, and no process is left."""
    ours, theirs = pty.openpty()
    few = ("--clients", "80", "--out", str(tmp_path / "sample"))
    with (tmp_path / "complained").open("wb") as complained:
        process = subprocess.Popen([*COMMAND, *few], stdout=theirs, stderr=complained, process_group=0)
    os.close(theirs)
    said = b""
    try:
        while stage.encode() not in said:
            said += os.read(ours, 65536)
        family = proc.family(process.pid)
        process.send_signal(signal.SIGINT)
        while chunk := _read(ours):
            said += chunk
        assert process.wait(60) == 130
        assert "stopped by SIGINT" in said.decode()
        assert b"Traceback" not in (tmp_path / "complained").read_bytes()
        until(lambda: not [pid for pid in family if Path(f"/proc/{pid}").exists()], "all processes end", timeout=30)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(terminal: int) -> bytes:
    """What is written to a terminal; nothing once nobody holds its other end."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
