"""Inputs over sockets to a whole `kproxy serve`: its clients' ports, its brokers' answers, its admin port.

The oracle: the process lives and answers its probes at once, whatever came before; it logs no fault of its own; its
memory stays.
"""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kproxy.errors import KproxyError
from kproxy.wire.header import decode_request_header
from kproxy.wire.primitives import INT32, frame
from tests.fuzz.script import Script, Step, decode
from tests.fuzz.targets import frame_seeds, http
from tests.fuzz.targets.target import ViolationError
from tests.support.proxy import HOST, Proxy
from tests.unit.upstream.scripted_broker import ScriptedBroker

_CLIENT, _REQUEST, _BROKER, _REPLY = range(4)
"""Kinds of steps, as in `frames`; the others do nothing here."""
_ADMIN: Final = 0x80
"""The bit of the first setting that says: these are bytes for the admin port."""
_EVERY: Final = 50
"""Inputs between two looks at the process."""
_PATIENCE: Final = 2.0
_SILENCE: Final = 0.05
"""Seconds without a byte after which the client leaves: kproxy lets others read for a second before it closes."""
_MOST_MIB: Final = 96
"""What the process may grow by, over all inputs."""
_OWN: Final = b"kproxy"
"""The client id of kproxy's own connections, which are answered properly."""


class LivingProcess:
    """The target. An input is over when kproxy has closed its connection, or says nothing any more."""

    kinds = 7
    most = 1 << 15

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="kproxy-fuzz-")
        self._broker = _Broker()
        self._proxy = Proxy(
            Path(self._directory.name),
            {"fuzzed": {"east": self._broker.address, "west": self._broker.address}},
            each={"telemetry": {"subscriptions": [{"name": "all", "metrics": ["*"], "interval": "100ms"}]}},
            receivers=[{"name": "prom", "type": "prometheus", "max_series": 5000, "max_clients": 100}],
            timeouts={"stalled_frame": "1s", "first_request": "1s", "connect": "1s", "upstream_request": "2s"},
            log={"level": "error", "format": "json"},
        )
        self._proxy.start()
        self._base = self._proxy.rss
        self._logged = 0
        self._recent: deque[bytes] = deque(maxlen=_EVERY)
        self.seeds = [*frame_seeds.seeds(), *map(_for_admin, http.make().seeds)]

    def run(self, data: bytes) -> None:
        """Send the input; look at the process after each `_EVERY` of them. A fault is of one of the last inputs."""
        self._play(data)
        self._recent.append(data)
        if len(self._recent) == _EVERY:
            self._recent.clear()
            self.look()

    def close(self) -> None:
        """As `Target`."""
        self._proxy.kill()
        self._broker.close()
        self._directory.cleanup()

    def look(self) -> None:
        """Raise for a process that has ended, is slow, has grown, or has logged a fault."""
        if self._proxy.exited is not None:
            raise ViolationError(f"the process has ended with {self._proxy.exited}: {self._proxy.tail()}")
        begun = time.monotonic()
        status, _ = self._proxy.get("/livez")
        if status != 200 or time.monotonic() - begun > _PATIENCE:
            raise ViolationError(f"livez answers {status} after {time.monotonic() - begun:.1f} s")
        if (grown := self._proxy.rss - self._base) > _MOST_MIB << 20:
            self._base = self._proxy.rss
            raise ViolationError(f"the process has grown by {grown >> 20} MiB")
        self._look_at_log()

    def _look_at_log(self) -> None:
        logged = self._proxy.log.read_bytes()
        fresh, self._logged = logged[self._logged :], len(logged)
        for line in fresh.splitlines():
            if b"Traceback" in line or b"internal error" in line:
                raise ViolationError(line.decode("utf-8", "replace")[-1500:])

    def _play(self, data: bytes) -> None:
        script = decode(data)
        admin = bool(script.settings[0] & _ADMIN)
        self._broker.answers(script.steps)
        port = self._proxy.admin_port if admin else self._proxy.port()
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), _PATIENCE) as client:
            for piece in _sent(script.steps):
                client.sendall(piece)
            client.shutdown(socket.SHUT_WR)
            client.settimeout(_SILENCE)
            while client.recv(1 << 16):
                pass


def _sent(steps: tuple[Step, ...]) -> Iterator[bytes]:
    for step in steps:
        if step.kind % LivingProcess.kinds == _REQUEST:
            yield frame(step.data)
        elif step.kind % LivingProcess.kinds == _CLIENT:
            yield step.data


def _for_admin(data: bytes) -> bytes:
    return Script(bytes([_ADMIN, 0, 0]), decode(data).steps).encode()


class _Broker:
    """Answers kproxy's own connections properly, and those of clients by the steps of the present input."""

    def __init__(self) -> None:
        self._listener = socket.create_server((HOST, 0), backlog=128)
        port = self._listener.getsockname()[1]
        self.address = f"{HOST}:{port}"
        self._proper = ScriptedBroker()
        self._proper.name_nodes({7: (HOST, port), 1001: (HOST, port)})
        self._steps: deque[Step] = deque()
        threading.Thread(target=self._accept, daemon=True).start()

    def answers(self, steps: tuple[Step, ...]) -> None:
        """Set what the next relayed connection gets, one step for each request; it is closed at the end of them."""
        self._steps = deque(step for step in steps if step.kind % LivingProcess.kinds in (_BROKER, _REPLY))

    def close(self) -> None:
        """Listen no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[connection, self._steps], daemon=True).start()

    def _serve(self, connection: socket.socket, steps: deque[Step]) -> None:
        connection.settimeout(30)
        with connection, contextlib.suppress(OSError, KproxyError), connection.makefile("rb") as stream:
            while len(size := stream.read(4)) == 4:
                request = stream.read(int.from_bytes(size, "big"))
                answer = self._answer(request, steps)
                if answer is None:
                    return
                connection.sendall(answer)
                if not steps and not _is_own(request):
                    connection.shutdown(socket.SHUT_WR)  # else kproxy waits for the rest of what was cut off

    def _answer(self, request: bytes, steps: deque[Step]) -> bytes | None:
        if _is_own(request):
            header, _ = decode_request_header(request, 0, len(request))
            return self._proper.response(header)
        if not steps:
            return None
        step = steps.popleft()
        if step.kind % LivingProcess.kinds == _BROKER:
            return step.data
        return frame(request[4:8].ljust(INT32.size, b"\0"), step.data)


def _is_own(request: bytes) -> bool:
    return request[10 : 10 + len(_OWN)] == _OWN


def make() -> LivingProcess:
    """Return the target, with its process started."""
    return LivingProcess()
