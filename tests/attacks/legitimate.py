"""A legitimate client of telemetry: what becomes of its push while others attack."""

from __future__ import annotations

from tests.support.raw import RawClient, api_versions
from tests.support.wait import until

from . import otlp
from .setting import Setting

_METRIC = "org.apache.kafka.producer."
_ADDRESS = "127.0.0.2"
"""Not the attackers': who shares theirs may be told, by 89, that the address is over its share."""


def push_kept(setting: Setting, name: str = "legitimate") -> str:
    """Push one metric as an honest client does; return `kept`, `refused with N`, or `answered OK and dropped`.

    `name` is the metric's, which nobody has pushed before.
    """
    with RawClient(setting.beside_port, timeout=30, tls=setting.tls, login=setting.login, source=_ADDRESS) as client:
        client.ask(api_versions(1))
        client.send(otlp.get(client_id="legitimate"))
        correlation_id, body = client.receive()
        instance, subscription_id = otlp.subscribed(correlation_id.to_bytes(4, "big") + body)
        metrics = otlp.metrics_data(otlp.gauge(_METRIC + name, otlp.point(1.0)))
        client.send(otlp.push(instance, subscription_id, metrics, otlp.NONE, "legitimate"))
        correlation_id, body = client.receive()
        error = otlp.pushed(correlation_id.to_bytes(4, "big") + body)
    if error:
        return f"refused with {error}"
    try:
        exported = (_METRIC + name).replace(".", "_").encode()
        until(lambda: exported in setting.get("/metrics/clients")[1], "the push on the page", timeout=5)
    except AssertionError:
        return "answered OK and dropped"
    return "kept"
