"""kproxy.demo.fleet.stages: lines or bars, and how long each stage took."""

from __future__ import annotations

import pytest

from kproxy.demo.fleet.stages import stages
from tests.unit.demo.test_screen import paper, written


@pytest.mark.parametrize("terminal", [False, True])
def test_what_is_shown(terminal: bool) -> None:
    """Each stage, in order; without a terminal there are no control codes."""
    console = paper(terminal=terminal)
    with stages(console) as view:
        for name in ("making", "reading"):
            view.begin(name)
            view.part(0.5)
    assert list(view.took) == ["making", "reading"]
    text = written(console)
    assert text.index("making") < text.index("reading")
    assert ("\x1b" in text) == terminal
    if not terminal:
        assert text == "making …\nmaking: 0 s\nreading …\nreading: 0 s\n"


def test_stopped() -> None:
    """A stage that was not finished is not said to be."""
    console = paper()
    view = stages(console)
    view.begin("making")
    view.__exit__(KeyboardInterrupt)
    assert view.took == {}
    assert written(console) == "making …\n"
