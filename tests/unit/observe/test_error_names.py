"""kproxy.observe.error_names, against a list that was made apart from it."""

from __future__ import annotations

from kio.schema.errors import ErrorCode

from kproxy.observe.error_names import ERROR_NAMES


def test_names_are_kafkas() -> None:
    """Every code that kio knows has the same name here."""
    assert {error.value: error.name.upper() for error in ErrorCode}.items() <= ERROR_NAMES.items()


def test_codes_have_no_gap() -> None:
    """Kafka numbers its errors without holes, from -1."""
    assert list(ERROR_NAMES) == list(range(-1, len(ERROR_NAMES) - 1))
    assert len(set(ERROR_NAMES.values())) == len(ERROR_NAMES)
