# This module is pure.
"""What labels say of a client: its attributes by the names of KIP-714, in the exposition format's form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kproxy.telemetry.instance import kafka_text
from kproxy.telemetry.receivers.naming import is_label, label_name

if TYPE_CHECKING:
    from kproxy.telemetry.instance import ClientInfo

CLIENT_LABELS: Final[Mapping[str, Callable[[ClientInfo], str | None]]] = MappingProxyType(
    {
        "client_instance_id": lambda info: kafka_text(info.client_instance_id),
        "client_id": lambda info: info.client_id,
        "client_software_name": lambda info: info.software_name,
        "client_software_version": lambda info: info.software_version,
        "client_source_address": lambda info: info.source_address,
        "client_source_port": lambda info: str(info.source_port),
    }
)
"""The names that subscriptions match by, too. Any other label is the resource's attribute of that name."""

DEFAULT_LABELS: Final = ("client_instance_id", "client_id", "client_software_name", "client_software_version")

MAX_VALUE: Final = 256
"""Characters of a label's value; what is longer is cut: a client id may have 32,767."""

_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def known(info: ClientInfo) -> list[tuple[str, str]]:
    """What is known of a client, by label."""
    pairs = ((label, value(info)) for label, value in CLIENT_LABELS.items())
    return [(label, value) for label, value in pairs if value is not None]


def check(labels: Iterable[str]) -> None:
    """ValueError for what cannot be a label."""
    for label in labels:
        if not is_label(label):
            raise ValueError(
                f"{label!r} cannot be a label; take one of {', '.join(CLIENT_LABELS)}, or the name of a resource "
                "attribute as group_id"
            )


def text(pairs: Iterable[tuple[str, str]]) -> str:
    """`a="1",b="2"`, each followed by a comma, which the format allows after the last one; empty values are left out.

    Of labels that stand twice the first one counts.
    """
    first: dict[str, str] = {}
    for label, value in pairs:
        if value:
            first.setdefault(label, value[:MAX_VALUE].translate(_ESCAPES))
    return "".join([f'{label}="{value}",' for label, value in first.items()])


def client_text(labels: Iterable[str], info: ClientInfo, resource: Mapping[str, str]) -> str:
    """The labels that are chosen, of a client and its resource."""
    return text(
        (label, (CLIENT_LABELS[label](info) if label in CLIENT_LABELS else resource.get(label)) or "")
        for label in labels
    )


def point_text(attributes: Iterable[tuple[str, str]], without: frozenset[str]) -> str:
    """A data point's attributes, by name; `without` are labels that are taken."""
    named = sorted((label_name(name), value) for name, value in attributes)
    return text((name, value) for name, value in named if name not in without)


class Labels:
    """Those of all series: clients' that are chosen, data points', and `constant` ones."""

    def __init__(
        self, clients: Iterable[str], *, attributes: Iterable[str] | None, constant: Mapping[str, str]
    ) -> None:
        """`attributes` of data points are chosen by OTLP's names; None is all. ValueError for what is no label."""
        self._clients = tuple(clients)
        check([*constant, *self._clients])
        self._taken = frozenset([*constant, *self._clients])
        self._constant = text(constant.items())
        self._attributes = None if attributes is None else frozenset(attributes)
        self.merge = self._attributes is not None or "client_instance_id" not in self._clients
        """Whether several clients, or several points of one, may have the same."""

    def of_client(self, info: ClientInfo, resource: Mapping[str, str]) -> str:
        """With the constant ones before them."""
        return self._constant + client_text(self._clients, info, resource)

    def of_point(self, attributes: Iterable[tuple[str, str]]) -> str:
        """Those of the chosen attributes whose names are not taken."""
        chosen = [each for each in attributes if self._attributes is None or each[0] in self._attributes]
        return point_text(chosen, self._taken)
