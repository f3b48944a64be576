"""Releases of client libraries, also those of brokers that could not be asked for their versions: each its own process.

Each writes `COUNT` numbers, reads and commits them as a group, writes one more, and reads as the group again. It prints
what the two readings gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from tests.support import cargo, golang, librdkafka, npm

COUNT: Final = 50
READ: Final = [list(range(COUNT)), [COUNT]]
"""What each prints where nothing is lost, doubled or forgotten."""
PLAIN: Final = "PLAIN"
SCRAM: Final = "SCRAM-SHA-256"
_LOGIN_MODULES: Final = {
    PLAIN: "org.apache.kafka.common.security.plain.PlainLoginModule",
    SCRAM: "org.apache.kafka.common.security.scram.ScramLoginModule",
}
# What was run at brokers, of those that cannot log in by both. Kafka 4 alone refuses SCRAM of librdkafka before 2.6.1,
# which has the client's nonce twice in its last message (its pull request 4895).
_MECHANISMS: Final[Mapping[str, tuple[str, ...]]] = {
    # librdkafka does not try: such a broker has no SaslHandshake, which came with 0.10.
    "confluent-kafka-2.0.2-at-0.9.0.1": (),
    # Its last message of SCRAM lacks the server's nonce, which Kafka 3.9 refuses (CVE-2024-56128).
    "franz-go-1.0.0": (PLAIN,),
    # It has PLAIN only, and writes an error in place of any other token.
    "kafka-node-5.0.0": (PLAIN,),
    # It asserts that brokers are of 0.10 at least; 1.4.7 has no SCRAM at any. The producer hangs: its thread has ended.
    "kafka-python-1.4.7-at-0.9": (),
    "kafka-python-2.0.2-at-0.8.2": (),
    "kafka-python-2.0.2-at-0.9": (),
    # They take settings from a file; the Java client, which they are, is in the table by itself.
    "kafka-tools-2.8.2": (),
    "kafka-tools-4.3.1": (),
    # It has no SASL.
    "pykafka-2.8.0-at-0.9.0": (),
    "pykafka-2.8.0-at-0.10.2": (),
    # It has PLAIN only.
    "sarama-1.20.1-at-1.0.0": (PLAIN,),
}
# They read their partitions alone: those that are told of brokers that had no members, and two that have none at all.
_WITHOUT_MEMBERS: Final = (
    "kafka-python-2.0.2-at-0.8.2",
    f"sarama-{golang.sarama_version()}-at-0.8.2.0",
    f"sarama-{golang.sarama_version()}-at-0.9.0.1",
    f"rskafka-{cargo.rskafka_version()}",
)


class Login(NamedTuple):
    """How a client logs in by SASL, over plain TCP; the mechanism is PLAIN or SCRAM-SHA-256."""

    mechanism: str
    username: str
    password: str

    @property
    def settings(self) -> Mapping[str, str]:
        """Those of Java's client."""
        jaas = f'{_LOGIN_MODULES[self.mechanism]} required username="{self.username}" password="{self.password}";'
        return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": self.mechanism, "sasl.jaas.config": jaas}


class ClientRelease(NamedTuple):
    """A library in one release, and the version of the brokers that it is told it has: none, and it asks them."""

    library: str
    release: str
    version: tuple[int, ...] = ()

    def __str__(self) -> str:
        told = ".".join(map(str, self.version))
        return f"{self.library}-{self.release}" + (f"-at-{told}" if told else "")

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Those by which it can log in where nothing is between it and the brokers."""
        return _MECHANISMS.get(str(self), (PLAIN, SCRAM))

    @property
    def is_member(self) -> bool:
        """Whether it joins its group."""
        return str(self) not in _WITHOUT_MEMBERS


def _in_table(client: ClientRelease) -> tuple[str, list[int], bool, tuple[int, ...]]:
    """Orders releases by their numbers; what is told most comes last."""
    return client.library, [*map(int, client.release.split("."))], not client.version, client.version


PYTHON: Final = (
    ClientRelease("kafka-python", "1.4.7", (0, 9)),
    ClientRelease("kafka-python", "2.0.2", (0, 8, 2)),
    ClientRelease("kafka-python", "2.0.2", (0, 9)),
    ClientRelease("kafka-python", "2.0.2", (0, 10, 1)),
    ClientRelease("kafka-python", "2.0.2", (0, 11)),
    ClientRelease("pykafka", "2.8.0", (0, 9, 0)),
    ClientRelease("pykafka", "2.8.0", (0, 10, 2)),
    ClientRelease("confluent-kafka", "2.0.2", (0, 9, 0, 1)),
    ClientRelease("confluent-kafka", "2.0.2", (0, 10, 0)),
)
SARAMA: Final = tuple(
    ClientRelease("sarama", golang.sarama_version(), told)
    for told in ((0, 8, 2, 0), (0, 9, 0, 1), (0, 10, 2, 0), (1, 0, 0))
)
JAVA: Final = tuple(ClientRelease("java", release) for release in ("0.10.2.2", "1.1.1", "2.1.1", "2.8.2"))
KAFKA_GO: Final = ClientRelease("kafka-go", golang.kafka_go_version())
KAFKA_NODE: Final = ClientRelease("kafka-node", npm.KAFKA_NODE)

ASKING_PYTHON: Final = (
    ClientRelease("kafka-python", "2.2.21"),
    ClientRelease("kafka-python", "2.3.3"),
    ClientRelease("kafka-python", "3.0.12"),
    # 2.0.2 is the oldest with a wheel for Python 3.11.
    *(ClientRelease("confluent-kafka", release) for release in ("2.0.2", "2.3.0", "2.8.0", "2.10.0", "2.16.1")),
)
AIOKAFKA: Final = tuple(ClientRelease("aiokafka", release) for release in ("0.8.1", "0.14.0"))
ASKING_SARAMA: Final = ClientRelease("sarama", golang.sarama_version())
FRANZ_GO: Final = ClientRelease("franz-go", golang.franz_go_version())
JAVA_TODAY: Final = tuple(ClientRelease("java", release) for release in ("3.9.2", "4.4.0"))
KAFKAJS: Final = ClientRelease("kafkajs", npm.KAFKAJS)
NODE_RDKAFKA: Final = tuple(ClientRelease("node-rdkafka", release) for release in npm.NODE_RDKAFKA)
LIBRDKAFKA: Final = tuple(ClientRelease("librdkafka", release) for release in librdkafka.SOURCES)
"""By itself, where no binding of that age runs."""
KCAT: Final = ClientRelease("kcat", "1.7.1")
"""Debian's, on librdkafka 2.0.2."""
MIRRORMAKER: Final = tuple(ClientRelease("mirrormaker", release) for release in ("2.8.2", "4.3.1"))
KAFKA_EXPORTER: Final = ClientRelease("kafka-exporter", "2.0.0", (2, 0, 0))
"""It takes its brokers for those of 2.0 where nobody says otherwise."""
KAFKA_TOOLS: Final = tuple(ClientRelease("kafka-tools", release) for release in ("2.8.2", "4.3.1"))
RSKAFKA: Final = ClientRelease("rskafka", cargo.rskafka_version())
"""It has no groups: its second reading begins at the offsets that it knows."""
OLD_GO: Final = (
    ClientRelease("kafka-go", "0.3.10"),
    ClientRelease("franz-go", "1.0.0"),
    ClientRelease("sarama", "1.20.1", (1, 0, 0)),
)
OTHERS: Final = (
    *ASKING_PYTHON,
    *AIOKAFKA,
    ASKING_SARAMA,
    FRANZ_GO,
    *JAVA_TODAY,
    KAFKAJS,
    *NODE_RDKAFKA,
    *LIBRDKAFKA,
    KCAT,
    *KAFKA_TOOLS,
    *MIRRORMAKER,
    KAFKA_EXPORTER,
    RSKAFKA,
    *OLD_GO,
)
"""What the gate does not run."""

ALL: Final = tuple(sorted((*PYTHON, *JAVA, *SARAMA, KAFKA_GO, KAFKA_NODE, *OTHERS), key=_in_table))
"""In the order of the table: by library, each from its oldest release."""
