"""One test for a table of many cases that no person would read one by one: versions, APIs, sizes, source files."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest

Test = Callable[..., None]
_MOST: Final = 50
"""How many cases are named."""


def every(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Callable[[Any], object] = repr
) -> Callable[[Test], Test]:
    """Run a test for each case, as `pytest.mark.parametrize` does, but as one test.

    All cases run. The first failure is raised, and says of which cases, by their `ids`, the test failed. What has
    fixtures shares them.
    """
    table = [(case, _given(names, case)) for case in cases]
    assert table, "a test of no case shows nothing"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**others: Any) -> None:
            failed = [(case, error) for case, given in table if (error := _failure(test, {**others, **given}))]
            if failed:
                first = failed[0][1]
                said = [str(ids(case)) for case, _ in failed[:_MOST]] + ["..."] * (len(failed) > _MOST)
                first.add_note(f"{names} in {len(failed)} of {len(table)} cases: {', '.join(said)}")
                raise first

        run.__signature__ = _without(test, names)  # type: ignore[attr-defined]
        return run

    return decorate


def _given(names: str | tuple[str, ...], case: Any) -> dict[str, Any]:
    return {names: case} if isinstance(names, str) else dict(zip(names, case, strict=True))


def _failure(test: Test, given: dict[str, Any]) -> BaseException | None:
    try:
        test(**given)
    except (Exception, pytest.fail.Exception) as error:  # the latter, of `pytest.raises`, is no Exception
        return error
    return None


def _without(test: Test, names: str | tuple[str, ...]) -> inspect.Signature:
    """The test's signature without what the cases give: pytest takes each parameter for a fixture."""
    signature = inspect.signature(test)
    gone = {names} if isinstance(names, str) else set(names)
    return signature.replace(parameters=[one for name, one in signature.parameters.items() if name not in gone])
