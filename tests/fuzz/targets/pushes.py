"""What receivers do with a push, without their queues and tasks: added up, labelled for OTLP, as lines of JSON."""

from __future__ import annotations

import json
from typing import Final

from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.exposition import page, snapshot
from kproxy.telemetry.receivers.json_lines import lines
from kproxy.telemetry.receivers.labels import CLIENT_LABELS, known
from kproxy.telemetry.receivers.prometheus import Prometheus
from kproxy.telemetry.receivers.resource import Labelling
from tests.fuzz.targets.target import ViolationError

_CONSTANT: Final = {"cluster": "main"}
_SERIES: Final = 500
_CLIENTS: Final = 20


class Receivers:
    """Takes each push as every receiver does; `look` makes what they write be read again."""

    def __init__(self, *, look: bool = False) -> None:
        self._look = look
        self.begin()

    def begin(self) -> None:
        """Forget all clients."""
        self.now = 100.0
        self.accumulator = Prometheus(constant=_CONSTANT, max_clients=_CLIENTS, max_series=_SERIES).accumulator
        self._labelling = Labelling(_CONSTANT)

    def take(self, push: Push) -> None:
        """Take a push. A receiver's own errors for payloads are caught, as the receivers do."""
        self.now += 1.0
        self._labelled(push)
        self._add(push)
        self._write(push)
        push.release()

    def _add(self, push: Push) -> None:
        try:
            if not self.accumulator.again(push.info, push.template, push.payload, self.now):
                for _ in self.accumulator.steps(push.info, push.metrics, self.now, push.payload, push.template):
                    pass
        except PayloadError:
            pass

    def _labelled(self, push: Push) -> None:
        try:
            labelled = self._labelling.labelled(push)
        except ValueError:
            return
        if self._look:
            _check_labels(labelled, push)

    def _write(self, push: Push) -> None:
        try:
            for line in lines(push, _CONSTANT):
                if line is not None and self._look:
                    json.loads(line)
        except PayloadError:
            return
        except json.JSONDecodeError:
            raise
        except ValueError:
            return

    def page(self) -> str:
        """Return what Prometheus would scrape."""
        return page([snapshot(family) for family in self.accumulator.families.values()])


def _check_labels(labelled: bytes, push: Push) -> None:
    """Check that each resource names this client and no other, and each label once."""
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

    wanted = sorted((name, text.encode("utf-8", "replace").decode()) for name, text in known(push.info))
    for resource_metrics in MetricsData.FromString(labelled).resource_metrics:
        attributes = resource_metrics.resource.attributes
        found = sorted((one.key, one.value.string_value) for one in attributes if one.key in CLIENT_LABELS)
        if found != wanted:
            raise ViolationError(f"a resource with the labels {found} of the client {wanted}")
