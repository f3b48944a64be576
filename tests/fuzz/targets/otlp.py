"""Pushes of metrics: decompressed, decoded, compared with the client's last one, taken by every receiver.

The oracle: a push has one of the documented error codes. What the receivers write can be read again, and names no
other client than the one that pushed.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from prometheus_client.parser import text_string_to_metric_families

from kproxy.telemetry.compression import CODECS
from kproxy.telemetry.service import Telemetry
from kproxy.telemetry.subscription import ClientInfo, Subscription
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from tests.fuzz.script import Script, Step, decode
from tests.fuzz.targets.push_seeds import metrics, payloads
from tests.fuzz.targets.pushes import Receivers
from tests.fuzz.targets.target import ViolationError
from tests.unit.telemetry.compressed import COMPRESS

MEANT: Final = frozenset({0, 42, 76, 87, 89, 117, 118})
"""KIP-714's: another push after the last one, the codec, the payload, throttled, another subscription, its size."""
_RAW: Final = 8
"""The bit of a step's kind that says: these bytes are compressed already, or are meant to look so."""
_MAX_BYTES: Final = 1 << 20
_CLIENTS: Final = (
    ClientInfo(UUID(int=99), "orders", "apache-kafka-java", "4.3.0", "192.0.2.1", 40_001),
    ClientInfo(UUID(int=98), 'o"r\nd\\e\udcffrs', None, None, "2001:db8::1", 0),
)
_CODECS: Final = tuple(COMPRESS.values())


class Otlp:
    """The target; each step is a push, some seconds after the one before."""

    kinds = 32
    most = 1 << 14

    def __init__(self) -> None:
        self.seeds = _seeds()

    def run(self, data: bytes) -> None:
        """Push each step's metrics; raise for what must not be."""
        script = decode(data)
        subscriptions = Subscriptions([Subscription("all", metrics=("*",), interval_ms=100)])
        server, receivers = Telemetry(subscriptions, max_bytes=_MAX_BYTES), Receivers(look=True)
        info = _CLIENTS[script.settings[0] % len(_CLIENTS)]
        for number, step in enumerate(script.steps):
            _push(server, receivers, info, step, 1e9 + 10.0 * number)
        if script.settings[1] & 1:
            for _ in text_string_to_metric_families(receivers.page()):
                pass

    def close(self) -> None:
        """As `Target`: there is nothing."""


def _push(server: Telemetry, receivers: Receivers, info: ClientInfo, step: Step, now: float) -> None:
    if step.kind & _RAW:
        codec, metrics = step.kind % (len(CODECS) + 1), step.data
    else:
        codec, compress = _CODECS[step.kind % len(_CODECS)]
        metrics = compress(step.data)
    request = PushTelemetryRequest(
        client_instance_id=info.client_instance_id,
        subscription_id=server.subscriptions.of(info).subscription_id(info.client_instance_id),
        compression_type=codec,
        metrics=metrics,
        terminating=bool(step.kind & 16),
    )
    response, push = server.push(info, request, now)
    if response.error_code not in MEANT:
        raise ViolationError(f"a push is answered {response.error_code}")
    if push is not None:
        receivers.take(push)


def _seeds() -> list[bytes]:
    plain = [(number, metrics(number)) for number in range(len(_CODECS))]
    found = [Script.of([push, (push[0], metrics(9)), push], bytes([push[0], 1, 0])).encode() for push in plain]
    raw = [Script.of([(codec | _RAW, data)] * 2, bytes([codec, 1, 0])).encode() for codec, data in payloads()]
    return [*found, *raw, Script.of(plain).encode(), Script.of([(16, metrics(3))]).encode()]


def make() -> Otlp:
    """Return the target."""
    return Otlp()
