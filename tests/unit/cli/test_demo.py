"""kproxy.cli.demo: what the demo is given."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kproxy import demo
from tests.unit.cli.running import printed

NOTHING = {"kafka": False, "stay": False, "hosted_groups": False}


def test_demo_says_which_extra_it_needs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything starts."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert printed(capsys, ["demo"]) == (2, "", "demo: matplotlib missing: pip install 'kproxy[demo]'\n")


def test_too_short_for_a_hosted_group(capsys: pytest.CaptureFixture[str]) -> None:
    """A member could not join and leave."""
    line = "demo: --hosted-groups needs --seconds 10 at least: the group rebalances twice\n"
    assert printed(capsys, ["demo", "--hosted-groups", "--seconds", "9"]) == (2, "", line)


@pytest.mark.parametrize(
    ("flags", "given"),
    [
        ((), NOTHING),
        (("--kafka", "--stay", "--hosted-groups"), dict.fromkeys(NOTHING, True)),
        (("--seconds", "7", "--out", "x/y"), {**NOTHING, "seconds": 7, "out": Path("x/y")}),
        (("--seconds", "10", "--hosted-groups"), {**NOTHING, "hosted_groups": True, "seconds": 10}),
    ],
)
def test_demo_passes_what_was_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, flags: Sequence[str], given: dict[str, object]
) -> None:
    """The demo's own defaults hold for what was not; its exit code is the command's."""
    calls = []
    signature = inspect.signature(demo.run)

    def play(**options: object) -> int:
        calls.append(options)
        return 3

    monkeypatch.setattr("kproxy.demo.run", play)
    assert printed(capsys, ["demo", *flags]) == (3, "", "")
    assert calls == [given]
    signature.bind(**given)
