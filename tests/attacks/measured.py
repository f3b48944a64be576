"""One attack on one build, measured: the healthy clients before and during it, memory, descriptors, what became of it.

`make attack` calls `measure` for each round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.helper import Helper
from tests.bench.process import BenchError, wait_until
from tests.support.beside import Beside
from tests.support.proc import open_files, peak_rss_bytes, rss_bytes
from tests.support.raw import HOST

from .attack import Attack, pause
from .legitimate import push_kept
from .setting import ATTACKED, BESIDE, Real, Setting, brokers, kafka, place, setting

QUIET_SECONDS: Final = 2
_SETTLE_SECONDS: Final = 1
"""How long the healthy clients go on after the attack's last byte: its work may not be done."""
_RECOVERY_SECONDS: Final = 4
"""After an attack on descriptors: with the first free ones kproxy reaches the other upstream, and could switch."""
GIVEN_BACK: Final = 16 << 20
"""Bytes over those of before at which memory counts as given back: allocators keep some."""
FILES_GIVEN_BACK: Final = 8
"""So many descriptors over those of before count as given back: healthy clients come and go."""
_MIB: Final = 1 << 20


@dataclass(slots=True)
class Found:
    """What one round found. Milliseconds of the healthy clients, by phase; MiB of memory; `facts` are the attack's own.

    `given_back` is how many seconds after the attack memory and descriptors were where they had been; None if they were
    not in time.
    """

    alive: bool
    quiet: dict[str, Any]
    attacked: dict[str, Any]
    seconds: float
    memory_before: float
    memory_peak: float
    memory_after: float
    given_back: float | None
    files_before: int
    files_peak: int
    files_after: int
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def added(self) -> float:
        """Return by how many milliseconds the healthy client's slowest request was slower than without attack."""
        return max(0.0, self._slowest(self.attacked) - self._slowest(self.quiet))

    @property
    def busy(self) -> float:
        """Return the milliseconds of kproxy's processor time that went by during the healthy client's request, at most.

        Unlike `added` it hardly depends on what else the machine does, see `share_of`.
        """
        return float(self.attacked["relay"].get("busy", float("inf")))

    @property
    def grown(self) -> float:
        """Return by how many MiB memory grew at most."""
        return self.memory_peak - self.memory_before

    @staticmethod
    def _slowest(phase: dict[str, Any]) -> float:
        return float(phase["relay"].get("slowest", float("inf")))

    def as_json(self) -> dict[str, Any]:
        """Return all of it for a machine."""
        return asdict(self)


class _Files(Beside):
    """The most descriptors that a process has open meanwhile, looked at ten times a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"files of {pid}")
        self._pid = pid
        self.most = open_files(pid)

    def _run(self) -> None:
        while not self._done.wait(0.1):
            self.most = max(self.most, open_files(self._pid))


def measure(
    attack: Attack,
    program: Path,
    directory: Path,
    wait: float,
    quiet: float = QUIET_SECONDS,
    real: Callable[[], Real] | None = None,
) -> Found:
    """Attack a fresh kproxy once, after so many `quiet` seconds; `wait` up to so many for its memory afterwards.

    `real` returns a Kafka that attacks share, for those that need a real one; then other tests run beside, and nothing
    gets priority over them. BenchError if kproxy cannot start.
    """
    with ExitStack() as stack:
        if attack.greets:
            bootstrap, pid = real() if real else stack.enter_context(kafka())
            upstreams, backends = {"first": bootstrap}, [pid]
        else:
            upstreams, backends = stack.enter_context(_brokers(attack))
        made = stack.enter_context(setting(program, directory, attack, upstreams))
        ports = (made.beside_port, made.admin_port, made.process.pid, backends[-1])
        authority = "" if made.authority is None else str(made.authority)
        logins = made.login or ()
        victim = Helper("healthy client", "tests.attacks.victim", *map(str, ports), authority, *logins)
        stack.enter_context(closing(victim))
        arguments = (attack.name, str(made.port), str(made.admin_port), str(attack.seconds))
        attacker = stack.enter_context(closing(Helper("attacker", "tests.attacks.attacker", *arguments)))
        attacker.answer()
        if real is None:
            place(made.process.pid, [victim.pid, backends[-1]], [attacker.pid, *backends])
        return _attacked(attack, made, victim, attacker, wait, quiet)


Backends = tuple[dict[str, str], list[int]]
"""The bootstrap servers of each upstream, and the brokers' processes: last the one of the healthy client's node."""


@contextmanager
def _brokers(attack: Attack) -> Iterator[Backends]:
    with ExitStack() as stack:
        upstreams, pids = {}, []
        for name in ("first", "second") if attack.upstreams else ("first",):
            # With one broker there is no other connection over which kproxy could learn that its upstream lives.
            node_ids = (ATTACKED,) if attack.upstreams else (ATTACKED, BESIDE)
            nodes, started = stack.enter_context(brokers(name, node_ids))
            upstreams[name] = f"{HOST}:{nodes[ATTACKED]}"
            pids += [one.pid for one in started]
        yield upstreams, pids


def _attacked(attack: Attack, made: Setting, victim: Helper, attacker: Helper, wait: float, quiet: float) -> Found:
    pid = made.process.pid
    _cut(victim)  # the first connections, and everything that is imported at the first request
    with suppress(OSError, EOFError, AssertionError):
        push_kept(made, "first")  # what is imported at the first push is none of the attack's memory
    pause(quiet)
    alone = _cut(victim)
    before, files_before = rss_bytes(pid), open_files(pid)
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # VmHWM starts anew
    began = time.monotonic()
    with _Files(pid) as files:
        attacker.command()
        facts: dict[str, Any] = {"answered": attacker.answer()}
        seconds = time.monotonic() - began
        pause(_SETTLE_SECONDS)
        during = _cut(victim)
    if alive := made.alive:
        facts |= _facts(made)
    peak = peak_rss_bytes(pid) if alive else 0
    attacker.command()
    attacker.answer()
    if attack.upstreams and alive:
        pause(_RECOVERY_SECONDS)
        facts["upstream"] = made.upstream()
    files_bound = files_before + FILES_GIVEN_BACK + attack.kept
    memory_bound = before + GIVEN_BACK + attack.reserve * _MIB
    given_back = _given_back(pid, memory_bound, files_bound, wait) if alive else None
    after, files_after = (rss_bytes(pid), open_files(pid)) if made.alive else (0, 0)
    memory = (before / _MIB, max(peak, after) / _MIB, after / _MIB, given_back)
    return Found(made.alive, alone, during, seconds, *memory, files_before, files.most, files_after, facts)


def _cut(victim: Helper) -> dict[str, Any]:
    victim.command()
    answer: dict[str, Any] = victim.answer()
    return answer


def _given_back(pid: int, memory: int, files: int, wait: float) -> float | None:
    """Return the seconds until memory and descriptors are within these bounds; None if they are not within `wait`."""

    def given_back() -> bool:
        return rss_bytes(pid) <= memory and open_files(pid) <= files

    try:
        return wait_until(given_back, "memory and descriptors given back", wait, every=0.1)
    except BenchError:
        return None


def _facts(made: Setting) -> dict[str, Any]:
    """Return what else is to be known: what became of a legitimate client's push, and whether kproxy is ready."""
    facts: dict[str, Any] = {}
    with suppress(OSError, EOFError, AssertionError):
        facts["push"] = push_kept(made)
    with suppress(OSError):
        facts["ready"] = made.get("/readyz", timeout=5)[0] == 200
    return facts
