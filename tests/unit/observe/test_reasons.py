"""kproxy.observe.reasons: one word and one explanation each."""

from __future__ import annotations

import re

from kproxy.observe.reasons import EXPLAINED, Reason


def test_every_reason_is_explained_once() -> None:
    """Each has a line for people, in the order of the enum, and no two are the same."""
    assert list(EXPLAINED) == list(Reason)
    assert len(set(EXPLAINED.values())) == len(Reason)


def test_reasons_are_labels() -> None:
    """They stand in metrics, logs and docs as lower-case words, and their names match."""
    for reason in Reason:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", reason)
        assert reason.name.lower() == reason.value
