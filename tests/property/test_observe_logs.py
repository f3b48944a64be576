"""Whatever happens to the log: no line is lost from both the log and its sums, and no secret is left in a text."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.observe.log_sampling import BURST, FAULT_SECONDS, PER_SECOND, Burst, FirstOnly, Kind, Sampling
from kproxy.observe.masking import SHORTEST, Secrets
from tests.support.violation import never

KINDS = [Kind("connection ended", "main", reason) for reason in ("client_closed", "connect_failed")]
STEPS = st.tuples(st.sampled_from(KINDS), st.integers(1, 3 * BURST), st.floats(0, 60), st.booleans())


@pytest.mark.parametrize("rule", [Burst, FirstOnly])
@given(steps=st.lists(STEPS, max_size=30))
def test_every_line_is_written_or_in_one_sum(
    rule: type[Burst | FirstOnly], steps: list[tuple[Kind, int, float, bool]]
) -> None:
    """And no kind gets more lines than its burst and its rate allow, or than one in ten seconds."""
    sampling, now = Sampling(rule), 0.0
    lines: Counter[Kind] = Counter()
    written: Counter[Kind] = Counter()
    summed: Counter[Kind] = Counter()
    for kind, number, pause, look in steps:
        now += pause
        lines[kind] += number
        written[kind] += sum(sampling.admits(kind, now, host=str(each)) for each in range(number))
        for found in sampling.sums(now) if look else ():
            summed[found.kind] += found.lines
            assert sum(found.hosts.values()) <= found.lines
    for found in sampling.sums(now, early=True):
        summed[found.kind] += found.lines
    assert written + summed == lines
    assert sampling.waiting == 0
    most = BURST + PER_SECOND * now if rule is Burst else 1 + now / FAULT_SECONDS
    assert all(number <= most for number in written.values())


TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
VALUES = st.lists(st.text(st.characters(codec="utf-8"), min_size=SHORTEST, max_size=20), min_size=1, max_size=5)


@given(VALUES, TEXTS, TEXTS)
def test_no_secret_is_left(values: list[str], before: str, after: str) -> None:
    """Neither as it is, nor in JSON; text without secrets stays as it is."""
    secrets = Secrets(values)
    for value in (value.strip() for value in values):
        text = f"{before}{value}{after}"
        if len(value) >= SHORTEST and value not in f"{before}**********{after}":
            never(value in secrets.hide(text), "a secret is left as it is")
            shown = secrets.hide(json.dumps(text))
            never(json.dumps(value)[1:-1] in shown and value not in "**********", "a secret is left in JSON")
    if not any(value.strip() in before + after for value in values) and "://" not in before:
        assert Secrets(["never-there"]).hide(before) == before
