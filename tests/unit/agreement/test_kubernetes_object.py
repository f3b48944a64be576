"""What the API server says, cut into any pieces; and refusals in one line."""

from __future__ import annotations

import json

import pytest

from kproxy.agreement.kubernetes_object import (
    Event,
    Lines,
    Stored,
    empty_map,
    order_patch,
    parse_event,
    parse_stored,
    refusal,
)

FOUND = {"kind": "ConfigMap", "metadata": {"resourceVersion": "7"}, "data": {"orders": "{}"}}


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines(size: int) -> None:
    """Whatever the pieces, the lines are the same; empty ones are none."""
    lines, data, found = Lines(), b"ab\ncde\n\n \nf\nrest", []
    for start in range(0, len(data), size):
        found += lines.add(data[start : start + size])
    assert found == [b"ab", b"cde", b"f"]


def test_a_line_without_end() -> None:
    """It is refused, before it fills memory."""
    lines = Lines()
    lines.add(bytes(4 << 20))
    with pytest.raises(ValueError, match="a line has more than 4 MiB"):
        lines.add(b"x")


def test_what_a_config_map_has() -> None:
    """One key's value and the version; data may be absent, null, or have other keys only."""
    assert parse_stored(json.dumps(FOUND).encode(), "orders") == Stored("7", "{}")
    for data in ({}, {"data": None}, {"data": {"bills": "x"}}, {"data": {"orders": 5}}):
        found = {"kind": "ConfigMap", "metadata": {"resourceVersion": "8"}, **data}
        assert parse_stored(json.dumps(found).encode(), "orders") == Stored("8", None)


def test_events() -> None:
    """What is there now, that it is gone, or that the watch must begin anew."""
    events = [json.dumps({"type": kind, "object": FOUND}).encode() for kind in ("ADDED", "MODIFIED")]
    assert [parse_event(event, "orders") for event in events] == [Event(Stored("7", "{}"))] * 2
    assert parse_event(b'{"type": "DELETED", "object": {}}', "orders") == Event(None)
    assert parse_event(b'{"type": "ERROR", "object": {}}', "orders") == Event(None, ended=True)
    with pytest.raises(ValueError, match="no event"):
        parse_event(b"[]", "orders")


def test_what_is_sent() -> None:
    """A ConfigMap without data, so that nothing of one that is there is touched; and one key under a version."""
    made = json.loads(empty_map("kproxy-orders"))
    assert (made["kind"], made["metadata"]["name"], "data" in made) == ("ConfigMap", "kproxy-orders", False)
    patch = json.loads(order_patch("7", "orders", "{}"))
    assert patch == {"metadata": {"resourceVersion": "7"}, "data": {"orders": "{}"}}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"kind": "Status", "message": "a\\n  b"}', "a b"),
        (b'{"kind": "Status", "message": " "}', "the API server answered with status 500"),
        (b"[]", "the API server answered with status 500"),
        (b"<html>", "the API server answered with status 500"),
    ],
)
def test_refusals(body: bytes, said: str) -> None:
    """The server's message in one line, or its status."""
    assert refusal(500, body) == said
