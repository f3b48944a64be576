"""kproxy.demo.children: children are read as they write, noticed when they end, and killed at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.demo.children import Child
from kproxy.local_kafka.processes import ToolError
from tests.support.wait import until

STAYS = 'import signal; print(\'{"kind": "up"}\', flush=True); signal.pause()'


def ended(program: str, log: Path) -> str:
    """Return the error about a child after its program ended."""
    with Child("the part", ("-c", program), log) as child:

        def complaint() -> str:
            try:
                child.check()
            except ToolError as error:
                return str(error)
            return ""

        return until(complaint, "the end is noticed")


def test_lines_are_read_once(tmp_path: Path) -> None:
    """Whole JSON lines are yielded in order; lines for people are left in the log."""
    program = "print('hello'); print('{\"n\": 1}'); print('{\"n\": 2}'); print('{\"n\":', end='')"
    with Child("the part", ("-c", program), tmp_path / "log") as child:
        assert child.wait(20) == 0
        assert list(child.lines()) == [{"n": 1}, {"n": 2}]
        assert list(child.lines()) == []


def test_gone_at_the_end(tmp_path: Path) -> None:
    """The process is gone even when the block fails."""
    with pytest.raises(RuntimeError, match="on the way"), Child("x", ("-c", STAYS), tmp_path / "log") as child:
        raise RuntimeError("on the way")
    assert not Path(f"/proc/{child.pid}").exists()


def test_an_early_end_says_why(tmp_path: Path) -> None:
    """The error has the exit code, the last line for people, and the log's path."""
    program = "print('{}'); print('%7|log'); raise SystemExit('no space left')"
    assert ended(program, tmp_path / "log") == (
        f"the part ended early, with exit code 1: no space left (see {tmp_path}/log)"
    )
    killed = ended("import os; os.kill(os.getpid(), 9)", tmp_path / "log")
    assert killed == f"the part ended early, killed by SIGKILL (see {tmp_path}/log)"


def test_sigterm(tmp_path: Path) -> None:
    """`end` waits for the exit code, with a limit."""
    deaf = "import signal; signal.signal(15, signal.SIG_IGN); " + STAYS.replace("import signal; ", "")
    with Child("the part", ("-c", deaf), tmp_path / "log") as child:
        child.wait_until(lambda: list(child.lines()) != [], "not up", 20)
        with pytest.raises(ToolError, match="the part did not end within 0 s"):
            child.end(0.2)


def test_settings_of_the_shell_are_not_the_demos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """KPROXY_ variables are removed, others are kept."""
    monkeypatch.setenv("KPROXY_LISTEN", "0.0.0.0:1")
    monkeypatch.setenv("OTHER", "x")
    program = "import json, os; print(json.dumps([sorted(n for n in os.environ if n in ('KPROXY_LISTEN', 'OTHER'))]))"
    with Child("the part", ("-c", program), tmp_path / "log") as child:
        child.wait(20)
    assert (tmp_path / "log").read_text() == '[["OTHER"]]\n'
