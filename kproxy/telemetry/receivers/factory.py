"""Make the telemetry receivers of one virtual cluster from their settings, once, when kproxy starts."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

from kproxy.config import receivers as settings
from kproxy.config.secret import secrets_of
from kproxy.config.url import parse_url
from kproxy.delivery import factory as delivering
from kproxy.delivery.factory import Connect
from kproxy.errors import ConfigError
from kproxy.observe.masking import Secrets
from kproxy.telemetry.receivers import plugins
from kproxy.telemetry.receivers.interface import Receiver
from kproxy.telemetry.receivers.prometheus import Prometheus
from kproxy.upstream.dial import reason
from kproxy.upstream.trust import client_context

if TYPE_CHECKING:
    from kproxy.config import Config

LABEL: Final = "cluster"
"""The label that names the virtual cluster on everything that a receiver writes."""
PROXY: Final = "proxy"
"""What names this kproxy in files and topics, where several kproxies may write; its page and a collector know it."""

_ENDPOINT: Final = "http://host:4318/v1/metrics or https://…, secrets as headers"


def made(config: Config, cluster: str, names: tuple[str, ...] | None, connect: Connect) -> list[Receiver]:
    """Return the receivers that a virtual cluster names, or all if `names` is None; raise `ConfigError`."""
    receivers = []
    labels = {LABEL: cluster}
    for index, receiver in enumerate(config.receivers):
        if names is None or receiver.name in names:
            try:
                receivers.append(_one(receiver, labels, {**labels, PROXY: config.events.proxy}, connect))
            except (ValueError, OSError) as error:
                # `from None`: a plug-in's error may show its options.
                raise ConfigError(
                    f"receivers.{index}", Secrets(secrets_of(config.receivers)).hide(str(error))
                ) from None
    return receivers


# Each function imports what its type needs: the imports of all types would add 40 ms to the start.
def _one(
    receiver: settings.Receiver, labels: Mapping[str, str], columns: Mapping[str, str], connect: Connect
) -> Receiver:
    match receiver:
        case settings.Prometheus():
            return _prometheus(receiver, labels)
        case settings.Otlp():
            return _otlp(receiver, labels)
        case settings.Kafka():
            return _kafka(receiver, columns, connect)
        case settings.Files():
            return _files(receiver, columns)
        case settings.PlugIn():
            return plugins.make(receiver.type, receiver.name, receiver.options, labels)


def _prometheus(receiver: settings.Prometheus, labels: Mapping[str, str]) -> Receiver:
    return Prometheus(
        receiver.name,
        labels=receiver.labels,
        attributes=receiver.attributes,
        constant={**receiver.constant, **labels},
        expiry=receiver.expiry,
        max_clients=receiver.max_clients,
        max_series=receiver.max_series,
        max_client_series=receiver.max_client_series,
        address_share=receiver.address_share,
        address_bytes=receiver.address_bytes,
        max_pushes=receiver.max_pushes,
        max_bytes=receiver.max_bytes,
    )


def _otlp(receiver: settings.Otlp, labels: Mapping[str, str]) -> Receiver:
    from kproxy.telemetry.receivers.otlp import ContentEncoding, Otlp  # noqa: PLC0415

    url, tls = parse_url(receiver.url, _ENDPOINT), partial(_tls, receiver.tls)
    if url.secure:
        tls()  # files that cannot be read are to be noticed now
    return Otlp(
        receiver.name,
        url,
        headers={name: value.get_secret_value() for name, value in receiver.headers.items()},
        compression=ContentEncoding(receiver.compression),
        tls=tls,
        constant={**receiver.constant, **labels},
        timeout=receiver.timeout,
        retry_for=receiver.retry_for,
        linger=receiver.linger,
        connections=receiver.connections,
        max_pushes=receiver.max_pushes,
        max_bytes=receiver.max_bytes,
    )


def _tls(tls: settings.Tls) -> ssl.SSLContext:
    """Read the files: each connection does so anew, so that renewed ones count. Raises OSError and ValueError."""
    try:
        context = client_context(tls.ca)
    except OSError as error:
        raise OSError(f"{tls.ca or 'the authorities of the system'}: {reason(error)}") from error
    if tls.certificate:
        try:
            context.load_cert_chain(tls.certificate, tls.key, _no_password)
        except OSError as error:
            raise OSError(f"{', '.join(filter(None, (tls.certificate, tls.key)))}: {reason(error)}") from error
    return context


def _no_password() -> NoReturn:
    """OpenSSL would ask for one at the terminal, and wait."""
    raise ValueError("the key has a password, which this receiver has no setting for; give it one without")


def _kafka(receiver: settings.Kafka, columns: Mapping[str, str], connect: Connect) -> Receiver:
    from kproxy.telemetry.receivers.kafka import Kafka, records_with  # noqa: PLC0415

    record = records_with({**receiver.constant, **columns})
    return delivering.topic(Kafka, receiver, connect, record, receiver.max_pushes)


def _files(receiver: settings.Files, columns: Mapping[str, str]) -> Receiver:
    from kproxy.telemetry.receivers.files import Files, lines_with  # noqa: PLC0415

    lines = lines_with({**receiver.constant, **columns})
    return delivering.files(Files, receiver, f"{receiver.prefix}-{columns[LABEL]}", lines, receiver.max_pushes)
