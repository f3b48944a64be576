"""How each release of a client library is started: by its program or its script, and what that is told.

What all but Java's client take is JSON: servers, topic, group, count, version; login, also as Java's settings: java.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from kproxy.local_kafka import java
from kproxy.local_kafka.broker import LOGGING
from kproxy.local_kafka.jars import KAFKA_2_8, KAFKA_4_3, Artifact, Release, classpath, of_kafka
from tests.support import cargo, golang, librdkafka, npm, tools, venvs
from tests.support.client_releases import COUNT, ClientRelease, Login

_SCRIPTS: Final = Path(__file__).with_name("clients") / "releases"
_IN_GO: Final = ("sarama", "kafka-go", "franz-go", "kafka-exporter")
_IN_NODE: Final[Mapping[str, Callable[[str], Path]]] = {
    "kafka-node": lambda _: npm.kafka_node(),
    "kafkajs": lambda _: npm.kafkajs(),
    "node-rdkafka": npm.node_rdkafka,
}
# It imports modules of kafka-python that later releases have no more, and asks for 2.0.2 or any later one.
_BESIDE: Final = {("aiokafka", "0.8.1"): ("kafka-python==2.0.2",)}
# The console tools' jars and classes.
_TOOLS: Final = {
    "2.8.2": (KAFKA_2_8, "kafka.tools.ConsoleProducer", "kafka.tools.ConsoleConsumer"),
    "4.3.1": (
        KAFKA_4_3,
        "org.apache.kafka.tools.ConsoleProducer",
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
    ),
}
_MIRRORMAKER: Final = "org.apache.kafka.connect.mirror.MirrorMaker"
# Its SCRAM takes Base64 from javax.xml.bind, which is no part of Java since 11.
_BESIDE_JAVA: Final = {"0.10.2.2": (Artifact("javax.xml.bind", "jaxb-api", "2.3.1"),)}


def command(client: ClientRelease, servers: str, topic: str, login: Login | None = None) -> Sequence[str]:
    """Return its command; the group is named as the topic. Without a login it is nobody."""
    settings = login.settings if login else {}
    if client.library == "java":
        options = (f"-Dclient.{name}={value}" for name, value in settings.items())
        return java_command(client.release, servers, topic, (*java.QUICK, *options))
    told = {"servers": servers, "topic": topic, "group": topic, "count": COUNT, "version": client.version}
    return _told(client, {**told, "login": login and login._asdict(), "java": settings})


def _told(client: ClientRelease, settings: Mapping[str, object]) -> Sequence[str]:
    """Return the command of what takes JSON: a program, or a script in Python or for node."""
    if client.library in _IN_GO:
        return [*golang.resuming(client.library, client.release), json.dumps(settings)]
    if client.library == "rskafka":
        return [str(cargo.rskafka()), json.dumps(settings)]
    script = str(_SCRIPTS / f"resuming_{client.library.replace('-', '_')}")
    if client.library in _IN_NODE:
        return [_node(), f"{script}.js", str(_IN_NODE[client.library](client.release)), json.dumps(settings)]
    if client.library in _STARTED:
        return [sys.executable, f"{script}.py", json.dumps({**settings, **_STARTED[client.library](client.release)})]
    beside = _BESIDE.get((client.library, client.release), ())
    return [venvs.python_with(client.library, client.release, *beside), f"{script}.py", json.dumps(settings)]


def _node() -> str:
    node = shutil.which("node")
    assert node, "no node on PATH"
    return node


def _kcat(release: str) -> dict[str, object]:
    """Return its program, which is Debian's: AssertionError where that is another release."""
    tools.ensure("kcat")
    program = shutil.which("kcat")
    assert program, "no kcat on PATH"
    said = tools.output(program, "-V")
    assert f"Version {release} " in said, f"kcat {release} is wanted: {said}"
    return {"kcat": program}


def _console(release: str) -> dict[str, object]:
    """Return the beginnings of the commands of Kafka's console producer and consumer."""
    jars, *classes = _TOOLS[release]
    started = (java.command(classpath(jars), one, options=(*java.QUICK, LOGGING)) for one in classes)
    return dict(zip(("producer", "consumer"), started, strict=True))


def _mirrormaker(release: str) -> dict[str, object]:
    """Return the beginning of the command of MirrorMaker 2."""
    jars = Release(f"mirrormaker-{release}", of_kafka(release, "connect-mirror", "connect-runtime"))
    return {"mirrormaker": java.command(classpath(jars), _MIRRORMAKER, heap_mb=256, options=(*java.QUICK, LOGGING))}


# What a script starts, in a release.
_STARTED: Final[Mapping[str, Callable[[str], dict[str, object]]]] = {
    "kafka-tools": _console,
    "kcat": _kcat,
    "librdkafka": lambda release: {"library": str(librdkafka.library(release))},
    "mirrormaker": _mirrormaker,
}


def java_command(release: str, servers: str, topic: str, options: Sequence[str] = java.QUICK) -> Sequence[str]:
    """Return the command of a release of Java's client; the options are the JVM's."""
    script = str(_SCRIPTS / "Resuming.java")
    return java.command(java_classpath(release), script, servers, topic, str(COUNT), options=options)


def java_classpath(release: str) -> str:
    """Return the class path of a release of kafka-clients."""
    clients = Artifact("org.apache.kafka", "kafka-clients", release)
    return classpath(Release(f"kafka-clients-{release}", (clients, *_BESIDE_JAVA.get(release, ()))))


def following(servers: str, topic: str) -> Sequence[str]:
    """Return the command of a producer and a consumer that live until they are killed."""
    python = venvs.python_with("kafka-python", "2.0.2")
    script = _SCRIPTS / "following_kafka_python.py"
    return [python, str(script), json.dumps({"servers": servers, "topic": topic})]
