"""kproxy.admin.parameters: typed query parameters."""

from __future__ import annotations

import pytest

from kproxy.admin.message import HttpError, Request
from kproxy.admin.parameters import choice, flag, integer


def of(**query: str) -> Request:
    return Request("GET", "/", query)


@pytest.mark.parametrize(
    ("query", "value"),
    [({}, False), ({"on": ""}, True), ({"on": "TRUE"}, True), ({"on": "1"}, True), ({"on": "0"}, False)],
)
def test_flags(query: dict[str, str], value: bool) -> None:
    """Present without a value means yes."""
    assert flag(of(**query), "on") is value


def test_a_flag_that_is_neither() -> None:
    """Anything else is refused by name."""
    with pytest.raises(HttpError, match="on='perhaps': true or false expected"):
        flag(of(on="perhaps"), "on")


def test_choices() -> None:
    """One of the words as they stand, or nothing."""
    assert [choice(of(), "w", ("no", "129")), choice(of(w="129"), "w", ("no", "129"))] == [None, "129"]
    for text in ("", "NO", "maybe"):
        with pytest.raises(HttpError, match=f"w='{text}': one of no, 129 expected"):
            choice(of(w=text), "w", ("no", "129"))


def test_integers() -> None:
    """The default without one, else its value, with both ends allowed."""
    assert [integer(of(), "n", 5, 1, 9), integer(of(n="1"), "n", 5, 1, 9), integer(of(n="9"), "n", 5, 1, 9)] == [
        5,
        1,
        9,
    ]


@pytest.mark.parametrize("text", ["", "0", "10", "-1", "+1", " 1", "1.0", "١", "²", "x", "9" * 5000])
def test_integers_that_are_none(text: str) -> None:
    """Out of range, not ASCII digits, or longer than a number may be."""
    with pytest.raises(HttpError, match="a whole number from 1 to 9 expected"):
        integer(of(n=text), "n", 5, 1, 9)
