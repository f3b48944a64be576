"""kproxy.observe.reasons: one word and one explanation each."""

from __future__ import annotations

import re

from kproxy.observe.reasons import EXPLAINED, Reason


def test_every_reason_is_explained_once() -> None:
    """Each reason has its own line for people, in the order of the enum."""
    assert list(EXPLAINED) == list(Reason)
    assert len(set(EXPLAINED.values())) == len(Reason)


def test_reasons_are_labels() -> None:
    """Reasons are lower-case words in metrics, logs and docs, and match their names in the enum."""
    for reason in Reason:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", reason)
        assert reason.name.lower() == reason.value
