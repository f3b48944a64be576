"""What stages need and the network gives: had before the first of them, so that no test's limit counts it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Final

from kproxy.errors import KproxyError
from kproxy.local_kafka import jars
from tests.gate.stage import ROOT
from tests.support import client_commands, client_releases, golang, npm, tools, venvs

Fetch = Callable[[], object]
_KAFKA: Final = ("real", "faults", "old", "secure", "groups", "pipeline", "demo")
OLD_LIBRDKAFKA: Final = ("2.0.2", "2.10.0")
"""tests/clients/sasl/test_old_librdkafka.py."""
KERBEROS_JAVA: Final = ("0.10.2.2", "2.8.2")
"""tests/clients/sasl/test_kerberos.py."""
_MINUTES: Final = 1200.0
"""Seconds for a virtual environment: Spark is 400 MB."""


def prepare(stages: Collection[str]) -> str:
    """Have what these stages need; return in one line what cannot be had and why, empty where all is there."""
    for what, fetch in _needed(frozenset(stages)):
        print(f"== prepare: {what}", flush=True)
        try:
            fetch()
        except (KproxyError, AssertionError, OSError, subprocess.SubprocessError) as error:
            return f"{what}: {' '.join(str(error).split())[:500]}"
    return ""


def _needed(stages: frozenset[str]) -> Iterator[tuple[str, Fetch]]:
    if stages & set(_KAFKA):
        for release in (jars.KAFKA_4_3, jars.KAFKA_4_4, jars.KAFKA_3_9, jars.TOOLS_3_9):
            yield release.name, partial(jars.classpath, release)
    if stages & {"real", "faults", "old", "secure", "groups"}:
        yield "the clients in Go", golang.franz_go
        yield "kafkajs", npm.kafkajs
    if "old" in stages:
        yield jars.KAFKA_2_8.name, partial(jars.classpath, jars.KAFKA_2_8)
        for library, version in sorted({(client.library, client.release) for client in client_releases.PYTHON}):
            yield f"{library} {version}", partial(venvs.python_with, library, version)
        for client in client_releases.JAVA:
            yield str(client), partial(client_commands.java_classpath, client.release)
        yield f"kafka-node {npm.KAFKA_NODE}", npm.kafka_node
    if "secure" in stages:
        for version in OLD_LIBRDKAFKA:
            yield f"confluent-kafka {version}", partial(venvs.python_with, "confluent-kafka", version)
        for version in KERBEROS_JAVA:
            yield f"java {version}", partial(client_commands.java_classpath, version)
        yield "kerberos", partial(tools.ensure, "kerberos")
    if "pipeline" in stages:
        yield "the environment with Spark", partial(_make, "build/pipeline/.installed")
    if "deploy" in stages:
        for tool in ("helm", "hadolint", "kubernetes-validate", "promtool"):
            yield tool, partial(tools.ensure, tool)


def _make(target: str) -> None:
    done = subprocess.run(
        ("make", "-s", target), cwd=ROOT, capture_output=True, text=True, check=False, timeout=_MINUTES
    )
    if done.returncode:
        raise ChildProcessError((done.stderr.strip().splitlines() or ["make failed"])[-1])
