"""kproxy.demo.children: the first signal raises, and the former handlers are restored."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from kproxy.demo.children import Stopped, stopped_by_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_raises_and_the_second_does_not(number: signal.Signals) -> None:
    """The cleanup is not disturbed; afterwards the former handlers are back."""
    before, put_away = signal.getsignal(number), []

    def play() -> None:
        with stopped_by_signals():
            try:
                os.kill(os.getpid(), number)
                threading.Event().wait(10)
            finally:
                os.kill(os.getpid(), number)
                put_away.append(number)

    with pytest.raises(Stopped, match=number.name) as caught:
        play()
    assert (put_away, caught.value.number) == ([number], number)
    assert signal.getsignal(number) is before


def test_it_is_no_failure() -> None:
    """`except Exception` does not catch it."""
    assert not issubclass(Stopped, Exception)
