"""kproxy.errors.kip_1050: its numbers and names are Kafka's, each in one class."""

from __future__ import annotations

from kproxy.errors import ErrorClass
from kproxy.errors.kip_1050 import NAMED, of_code
from kproxy.wire.generated.error_codes import ErrorCode


def _entries() -> list[tuple[int, str]]:
    words = " ".join(NAMED.values()).split()
    return [(int(number), name) for number, name in zip(words[::2], words[1::2], strict=True)]


def test_numbers_and_names_belong_together() -> None:
    """A number beside another code's name would put the wrong code into a class."""
    assert _entries() == [(ErrorCode[name].value, name) for _, name in _entries()]


def test_no_code_is_of_two_classes() -> None:
    """The later one would win, unseen."""
    assert len({code for code, _ in _entries()}) == len(_entries())


def test_each_code_is_of_the_class_that_names_it() -> None:
    """And those that none names are application-recoverable, 0 with them: the protocol has no class for it."""
    of = {code: error_class for error_class, text in NAMED.items() for code in map(int, text.split()[::2])}
    for code in ErrorCode:
        assert of_code(code) is of.get(code, ErrorClass.APPLICATION_RECOVERABLE)
