"""The way from a network namespace to one server outside, which a test can cut and heal."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Final

_SECONDS: Final = 5.0
_CHUNK: Final = 1 << 16


class _Passage:
    """One connection, and the one that it is carried on by; both bytes and ends stay where they are once frozen."""

    def __init__(self, near: socket.socket) -> None:
        self.near = near
        self.far: socket.socket | None = None
        self.frozen = False

    def pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while (data := source.recv(_CHUNK)) and not self.frozen:
                sink.sendall(data)
        if not self.frozen:
            self.end()

    def end(self) -> None:
        for one in (self.near, self.far):
            if one is not None:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)


class Link:
    """Carries connections from `listener` to `target` in threads; `cuts` counts how often it was cut.

    Cut, no byte and no end passes, and new connections hang. Healed, those from before are ended, and new ones work.
    """

    def __init__(self, listener: socket.socket, target: tuple[str, int]) -> None:
        self.cuts = 0
        self.is_cut = False
        self._target = target
        self._listener = listener
        self._lock = threading.Lock()
        self._passages: set[_Passage] = set()
        self._closed = False
        threading.Thread(target=self._accept, name="link", daemon=True).start()

    def cut(self) -> None:
        """Freeze what is there, and what comes."""
        with self._lock:
            if not self.is_cut:
                self.is_cut, self.cuts = True, self.cuts + 1
            for passage in self._passages:
                passage.frozen = True

    def heal(self) -> None:
        """End what is frozen, and carry what comes."""
        with self._lock:
            self.is_cut = False
            frozen = [passage for passage in self._passages if passage.frozen]
        for passage in frozen:
            passage.frozen = False
            passage.end()

    def close(self) -> None:
        """End all connections; take no more."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        self.heal()

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            passage = _Passage(near)
            with self._lock:
                passage.frozen = self.is_cut
                self._passages.add(passage)
            threading.Thread(target=self._carry, args=(passage,), name="passage", daemon=True).start()

    def _carry(self, passage: _Passage) -> None:
        with passage.near:
            if passage.frozen:
                _await_end(passage.near)
            else:
                with contextlib.suppress(OSError), socket.create_connection(self._target, _SECONDS) as far:
                    far.settimeout(None)
                    passage.far = far
                    self._both_ways(passage, far)
        with self._lock:
            self._passages.discard(passage)

    def _both_ways(self, passage: _Passage, far: socket.socket) -> None:
        back = threading.Thread(target=passage.pump, args=(far, passage.near), name="back", daemon=True)
        back.start()
        passage.pump(passage.near, far)
        back.join()


def _await_end(frozen: socket.socket) -> None:
    """Read what comes, until a heal ends it; the peer's own end is not answered before."""
    with contextlib.suppress(OSError):
        while frozen.recv(_CHUNK):
            pass
