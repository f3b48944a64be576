"""The process of the embedded Kafka: runs librdkafka's mock cluster until SIGTERM.

`kproxy.demo.backend` starts it, unless the demo runs a real Kafka. When it listens, it prints one JSON line with the
addresses by node id.
"""

from __future__ import annotations

import json
import signal
import sys

from confluent_kafka import Producer

TIMEOUT = 10.0


def main() -> None:
    """Start the number of brokers in the argument, and wait for a signal."""
    ended = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ended)  # before librdkafka starts its threads
    client = Producer({"test.mock.num.brokers": int(sys.argv[1]), "bootstrap.servers": "replaced by the mock's"})
    brokers = client.list_topics(timeout=TIMEOUT).brokers
    addresses = {node_id: f"{broker.host}:{broker.port}" for node_id, broker in sorted(brokers.items())}
    print(json.dumps({"kind": "brokers", "addresses": addresses}), flush=True)  # noqa: T201 - its one line
    signal.sigwait(ended)


if __name__ == "__main__":
    main()
