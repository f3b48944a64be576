"""The gate's stages, in order. Those of one phase run side by side; beside real clients of kproxy runs nothing."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from kproxy.markers import PURE, marked
from tests.gate.stage import ROOT, Stage

CORE: Final = ("-m", "not long")
SPARK: Final = "build/pipeline/bin/python"
# Where its streams have called Python, Spark listens until its process ends; asked to stop that, it may wait for ever.
SPARKS_OWN: Final = ("port ", "thread ")
# Rooms whose unit tests open sockets and wait; in any other a test that fails once is proof of a fault.
SOCKETS: Final = tuple(
    f"tests/unit/{room}/"
    for room in (
        "admin",
        "agreement",
        "app",
        "authentication",
        "cli",
        "cluster",
        "delivery",
        "faults",
        "local_kafka",
        "rebootstrap",
        "relay",
        "routing",
        "telemetry",
        "topology",
        "upstream",
    )
)
# In these rooms, too: a pure module has no socket, and does the same each time.
PURE_TESTS: Final = tuple(
    f"tests/unit/{path.with_name(f'test_{path.name}').relative_to('kproxy')}" for path in map(Path, marked(PURE))
)
# The gate's own unit tests, a minute, reach nothing of kproxy.
OF_THE_GATE: Final = "tests/unit/gate"
# Four shards of the unit tests, of about equal time: they mostly wait, so that four fill two processors.
APP: Final = ("tests/unit/app",)
CLUSTER: Final = ("tests/unit/cluster", "tests/unit/upstream")
RELAY: Final = ("tests/unit/relay", "tests/unit/admin", "tests/unit/observe")
REST: Final = ("tests/unit", *(f"--ignore={room}" for room in (*APP, *CLUSTER, *RELAY, OF_THE_GATE)))
QUICK: Final = ("tests/property", "tests/bench", "tests/fuzz", "tests/soak/test_verdict.py", "tests/interruptions")
# What asks for authentication or TLS, what goes wrong or away, and clients of ten years ago: a newcomer's `make test`
# leaves them out.
SECURE: Final = ("tests/clients/sasl", "tests/clients/tls")
OLD: Final = ("tests/clients/old",)
FAILOVER: Final = tuple(str(found.relative_to(ROOT)) for found in sorted(ROOT.glob("tests/clients/test_failover*.py")))
UNIT: Final = tuple(
    Stage(f"unit-{name}", pytest=tests, again=SOCKETS, once=PURE_TESTS, coverage=True, least=least)
    for name, tests, least in (
        ("app", APP, 125),
        ("cluster", CLUSTER, 660),
        ("relay", RELAY, 2_285),
        ("rest", REST, 4_560),
    )
)
REACHED: Final = tuple(f"build/gate/reached-{stage.name}.json" for stage in UNIT)
# The relay's tests on compiled modules: what is not optimized is compiled in half the time, and is as right.
COMPILED: Final = ("make", "test-compiled", "PYTEST=-q -p tests.gate.reports --gate-reports {reports}")

Phase = tuple[Stage, ...]
PHASES: Final[tuple[Phase, ...]] = (
    (Stage("check", command=("make", "check")),),
    (
        *UNIT,
        Stage("compiled", command=COMPILED, environment={"MYPYC_OPT_LEVEL": "0"}, least=2_500),
        # Six on two processors: the unit tests mostly wait, Spark never does.
        Stage("quick", pytest=(*QUICK, OF_THE_GATE), again=QUICK, least=1_725),
    ),
    (
        Stage("coverage", command=(sys.executable, "-m", "tests.support.pure_coverage", *REACHED)),
        Stage("pipeline", pytest=("tests/pipeline", *CORE), python=SPARK, least=209, leaves=SPARKS_OWN),
    ),
    (
        Stage(
            "real",
            pytest=("tests/clients", *(f"--ignore={room}" for room in (*SECURE, *OLD, *FAILOVER)), *CORE),
            least=800,
        ),
    ),
    (Stage("faults", pytest=("tests/faults", *FAILOVER, *CORE), least=100),),
    (Stage("old", pytest=(*OLD, *CORE), least=45),),
    (Stage("secure", pytest=(*SECURE, *CORE), least=139),),
    (Stage("groups", pytest=("tests/groups", *CORE), least=60),),
    (Stage("deploy", pytest=("tests/deploy", *CORE), least=220),),
    (Stage("demo", command=("make", "demo")),),
)


def chosen(names: Collection[str], phases: Sequence[Phase] = PHASES) -> list[Phase]:
    """Return the phases of the stages with these names; `unit` is every one that begins so, and what it covers.

    Raises `ValueError` for a name that no stage has.
    """
    known = {_family(stage) for phase in phases for stage in phase}
    if unknown := sorted(set(names) - known - {"all"}):
        raise ValueError(f"no stage {', '.join(unknown)}: all, or of {', '.join(sorted(known))}")
    picked = [tuple(stage for stage in phase if names == {"all"} or _family(stage) in names) for phase in phases]
    return [phase for phase in picked if phase]


def _family(stage: Stage) -> str:
    return "unit" if stage.name == "coverage" else stage.name.partition("-")[0]
