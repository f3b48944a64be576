"""kproxy.upstream.hellos: what clients are told of brokers that serve different versions."""

from __future__ import annotations

from kproxy.upstream.hellos import Hellos
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse

ONE, TWO, THREE = ("one", 9092), ("two", 9092), ("three", 9092)


def hello(**ranges: tuple[int, int]) -> ApiVersionsResponse:
    """A broker's answer, of the APIs k0, k1 and so on."""
    return ApiVersionsResponse(api_keys=[ApiVersion(int(key[1:]), *versions) for key, versions in ranges.items()])


def told(found: ApiVersionsResponse | None) -> dict[int, tuple[int, int]] | None:
    return None if found is None else {one.api_key: (one.min_version, one.max_version) for one in found.api_keys}


def test_each_broker_for_itself() -> None:
    """And what all of them serve for one that is not known, and where any may be reached."""
    hellos = Hellos()
    assert hellos.of(ONE) is hellos.of(None) is None
    hellos.note(ONE, hello(k0=(0, 9), k1=(4, 13), k2=(0, 1), k5=(0, 3)))
    assert told(hellos.of(TWO)) == told(hellos.of(None)) == {0: (0, 9), 1: (4, 13), 2: (0, 1), 5: (0, 3)}
    hellos.note(TWO, hello(k0=(3, 11), k1=(0, 12), k5=(4, 5), k7=(0, 0)))
    assert told(hellos.of(ONE)) == {0: (0, 9), 1: (4, 13), 2: (0, 1), 5: (0, 3)}
    assert told(hellos.of(TWO)) == {0: (3, 11), 1: (0, 12), 5: (4, 5), 7: (0, 0)}
    assert told(hellos.of(THREE)) == told(hellos.of(None)) == {0: (3, 9), 1: (4, 12)}


def test_brokers_that_go_or_change() -> None:
    """The last answer of those that are there counts."""
    hellos = Hellos()
    hellos.note(ONE, hello(k0=(0, 9)))
    hellos.note(TWO, hello(k0=(0, 11)))
    assert told(hellos.of(None)) == {0: (0, 9)}
    hellos.note(ONE, hello(k0=(0, 10)))
    assert told(hellos.of(None)) == {0: (0, 10)}
    hellos.keep({TWO})
    assert told(hellos.of(ONE)) == told(hellos.of(None)) == {0: (0, 11)}
