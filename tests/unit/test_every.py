"""tests.support.every: all cases run, and a failure names its own."""

from __future__ import annotations

import inspect

import pytest

from tests.support.every import every


def test_all_cases_run_and_the_failures_are_named() -> None:
    """What is raised is the first failure itself, behind which the other cases have run."""
    ran: list[int] = []

    @every("number", range(5))
    def odd(number: int) -> None:
        ran.append(number)
        assert number % 2, f"{number} is even"

    with pytest.raises(AssertionError, match="0 is even") as caught:
        odd()
    assert ran == [0, 1, 2, 3, 4]
    assert caught.value.__notes__ == ["number in 3 of 5 cases: 0, 2, 4"]


def test_what_was_to_be_raised_is_not() -> None:
    """This is a failure of its case as any other."""

    @every("text", ["x", "1"])
    def no_number(text: str) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(text)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as caught:
        no_number()
    assert caught.value.__notes__ == ["text in 1 of 2 cases: '1'"]


def test_a_table_that_fails_as_a_whole() -> None:
    """The first cases are enough."""

    @every("number", range(100))
    def low(number: int) -> None:
        assert number < 0

    with pytest.raises(AssertionError) as caught:
        low()
    assert caught.value.__notes__[0].endswith(", 48, 49, ...")


@pytest.mark.parametrize("size", [1, 2])
@every("letter", "ab", ids=str.upper)
@every(("low", "high"), [(0, 1), (1, 0)])
def test_it_stands_with_others(size: int, letter: str, low: int, high: int) -> None:
    """With a table that is parametrized, and with one more of its own: each combination is one case."""
    assert (size > 0, letter in "ab", low + high) == (True, True, 1)


def test_pytest_sees_what_is_left() -> None:
    """Any other parameter is a fixture's."""
    assert list(inspect.signature(test_it_stands_with_others).parameters) == ["size"]


def test_a_case_in_a_case() -> None:
    """Both tables say where it fails."""

    @every("outer", "ab", ids=str.upper)
    @every("inner", [1, 2])
    def never_b2(outer: str, inner: int) -> None:
        assert (outer, inner) != ("b", 2)

    with pytest.raises(AssertionError) as caught:
        never_b2()
    assert caught.value.__notes__ == ["inner in 1 of 2 cases: 2", "outer in 1 of 2 cases: B"]


def test_no_case_at_all() -> None:
    """A table that is empty would pass whatever is wrong."""
    with pytest.raises(AssertionError, match="a test of no case"):
        every("number", [])
