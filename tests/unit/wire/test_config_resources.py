"""What config requests name, found without decoding them."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import APIS
from kproxy.wire.config_resources import BROKER, CLIENT_METRICS, TOPIC, NamedResources
from kproxy.wire.primitives import uvarint
from tests.property.wire_contents import TAGS
from tests.support.every import every
from tests.unit.relay import frames

KEYS = (32, 33, 44)
VERSIONS = [(key, version) for key in KEYS for version in frames.versions(key)]
READ = 128 << 10


def inner(key: int, names: list[str]) -> dict[str, Any]:
    """The keys, or the configs, of a resource."""
    if key == 32:
        return {"ConfigurationKeys": names}
    operation = {"ConfigOperation": 1} if key == 44 else {}
    return {"Configs": [{"Name": name, "Value": None if name == "" else "v" * 200, **operation} for name in names]}


def resource(key: int, kind: int, name: str = "t", names: list[str] | None = None) -> dict[str, Any]:
    """A resource of a request."""
    return {"ResourceType": kind, "ResourceName": name, **inner(key, names or [])}


def request(key: int, version: int, resources: list[dict[str, Any]]) -> bytes:
    """A request without its size."""
    return frames.request(key, version, 5, {"Resources": resources})[4:]


def walked(key: int, version: int, frame: bytes, step: int = READ) -> NamedResources:
    """What is found when the frame arrives in pieces."""
    walk = NamedResources(key, version)
    for end in range(step, len(frame) + step, step):
        walk.look(frame, 0, min(end, len(frame)))
    walk.finish(len(frame))
    return walk


@pytest.mark.parametrize("step", [1, 7, READ])
@every(("key", "version"), VERSIONS)
def test_types_are_found(key: int, version: int, step: int) -> None:
    """In every version, however the request arrives; keys and configs are counted."""
    resources = [
        resource(key, TOPIC),
        resource(key, TOPIC, "x" * 300, ["", "a", "b" * 300, "", "c"]),
        resource(key, BROKER, "7", ["a", "", "b"]),
        resource(key, TOPIC, ""),
        resource(key, TOPIC),
    ]
    found = walked(key, version, request(key, version, resources), step)
    assert [kind for kind in range(128) if found.names(kind)] == [TOPIC, BROKER]
    assert found.elements == 5 + 8
    assert found.names_only(TOPIC, BROKER, CLIENT_METRICS)
    assert not found.names_only(TOPIC)


@every(("key", "version"), VERSIONS)
def test_no_resource(key: int, version: int) -> None:
    """Nothing is named."""
    found = walked(key, version, request(key, version, []))
    assert (found.elements, found.names(0), found.names_only()) == (0, False, True)


@every(("key", "version"), VERSIONS)
@pytest.mark.parametrize("kind", [100, -1])
def test_types_that_kafka_does_not_have(key: int, version: int, kind: int) -> None:
    """All high numbers are one; none is taken for a type that Kafka has."""
    found = walked(key, version, request(key, version, [resource(key, kind, name) for name in ("a", "b" * 200)]))
    assert [one for one in range(60) if found.names(one)] == []
    assert found.names(100)
    assert not found.names_only(TOPIC, BROKER, CLIENT_METRICS)


@pytest.mark.parametrize("step", [1, 5, READ])
@every(("key", "version"), [pair for pair in VERSIONS if pair[1] >= APIS[pair[0]].flexible_from])
def test_unknown_tagged_fields(key: int, version: int, step: int) -> None:
    """They pass, wherever they are, and are counted."""
    tags = [(70, b"x" * 5), (71, b"")]
    first = {**resource(key, TOPIC, names=["a", "b"]), TAGS: tags}
    extra = 0
    if key != 32:
        first["Configs"][0][TAGS] = tags
        extra = 2
    frame = request(key, version, [first, {**resource(key, TOPIC), TAGS: tags}, resource(key, CLIENT_METRICS)])
    header = frame.index(b"c1") + 2
    assert frame[header] == 0
    frame = frame[:header] + b"\x01\x09\x03abc" + frame[header + 1 :]
    found = walked(key, version, frame, step)
    assert found.names(CLIENT_METRICS)
    assert found.elements == 3 + 2 + 1 + 2 + 2 + extra


@every(("key", "version"), VERSIONS)
def test_a_request_that_is_cut(key: int, version: int) -> None:
    """It is malformed wherever it ends before its last resource does."""
    frame = request(key, version, [resource(key, TOPIC, names=["a"]), resource(key, TOPIC, names=["b", "c"])])
    trailing = len(request(key, version, [])) - 12 - (3 if version < APIS[key].flexible_from else 1)
    for size in range(len(frame) - trailing - 1):
        with pytest.raises(MalformedMessageError):
            walked(key, version, frame[:size], 3)


def test_a_read_is_a_step() -> None:
    """Two million resources (8 MiB) are walked read by read: no read's work is more than its bytes.

    Decoding them held the loop for 6 s. The frame grows in one buffer, as the flow holds it, and what was walked is
    overwritten: it is not looked at again.
    """
    count = 2_000_000
    frame = request(32, 4, [])[:13] + uvarint(count + 1) + b"\x02\x01\x00\x00" * count + b"\0\0\0"
    walk, held = NamedResources(32, 4), bytearray()
    most = 0
    for start in range(0, len(frame), READ):
        held += frame[start : start + READ]
        before = walk.elements
        walk.look(held, 0, len(held))
        most = max(most, walk.elements - before)
        held[: max(start - 10, 0)] = b"\xff" * max(start - 10, 0)
    walk.finish(len(frame))
    assert walk.elements == count
    assert most <= READ // 4 + 1
    assert walk.names_only(TOPIC)
