"""kproxy.wire.error_walk: which responses have codes, and what is made of those that are malformed."""

from __future__ import annotations

import pytest

from kproxy.wire.apis import APIS
from kproxy.wire.error_walk import error_walk
from kproxy.wire.generated.error_walks import ERROR_WALKS
from tests.unit.relay import frames


@pytest.mark.parametrize(("key", "version"), [(71, 0), (64, -1), (0, -1), (8, 99), (-5, 0)])
def test_nothing_to_look_at(key: int, version: int) -> None:
    """Versions and APIs that are not known have no walk; only a known response can have a code."""
    assert (error_walk(key, version) is None) == ((key, version) != (71, 0))


@pytest.mark.parametrize(("key", "version"), [(12, 4), (12, 0), (60, 1), (68, 1)])
def test_one_code_at_a_fixed_place(key: int, version: int) -> None:
    """It is no walk, so the relay may read the code itself; it is found all the same, about nothing that has a name."""
    walk = error_walk(key, version)
    assert walk is not None
    assert not walk.walks
    for code in (25, -1):
        sent = frames.response(key, version, 1, {"ErrorCode": code})[4:]
        assert walk.look(sent, 0, len(sent)) == [(code, 0, 0)]
        assert walk.name(sent, 0, len(sent)) is None
    sent = frames.response(key, version, 1, {"ErrorCode": 0})[4:]
    assert list(walk.look(sent, 0, len(sent))) == []


def test_names_around_a_code() -> None:
    """The nearest topic and group, also where a code comes before the name."""
    topics = [{"Name": "orders", "Partitions": [{"ErrorCode": 3}]}, {"Name": "ä", "Partitions": [{"ErrorCode": 6}]}]
    groups = [{"GroupId": "billing", "Topics": topics, "ErrorCode": 16}]
    assert told(9, 9, {"Groups": groups}) == [(3, "orders", "billing"), (6, "ä", "billing"), (16, None, "billing")]
    assert told(3, 12, {"Topics": [{"ErrorCode": 29, "Name": "orders"}]}) == [(29, "orders", None)]
    assert told(15, 5, {"Groups": [{"ErrorCode": 30, "GroupId": "billing"}]}) == [(30, None, "billing")]
    assert told(8, 10, {"Topics": [{"Partitions": [{"ErrorCode": 3}]}]}) == [(3, None, None)]


def told(key: int, version: int, content: dict[str, object]) -> list[tuple[int, str | None, str | None]]:
    """What a walk finds, with names."""
    walk = error_walk(key, version)
    assert walk is not None
    sent = frames.response(key, version, 1, content)[4:]
    found = walk.look(sent, 0, len(sent))
    return [(code, *(walk.name(sent, place, len(sent)) for place in about)) for code, *about in found]  # type: ignore[misc]


def test_a_response_that_ends_too_early_has_no_code() -> None:
    """Whatever lies behind it in the buffer; the next one is not mixed up with it."""
    walk = error_walk(8, 8)
    assert walk is not None
    sent = frames.response(8, 8, 1, {"Topics": [{"Name": "t", "Partitions": [{"ErrorCode": 29}] * 3}]})[4:]
    for end in range(len(sent) - 1):  # the last byte, of the tagged fields, is behind all codes
        assert list(walk.look(sent, 0, end)) == []
        assert list(walk.look(sent[:end], 0, end)) == []
    assert [code for code, _, _ in walk.look(sent, 0, len(sent))] == [29] * 3


def test_walks_are_for_what_brokers_serve() -> None:
    """The relay refuses the rest, so it would be dead code."""
    assert {key for key, _ in ERROR_WALKS} <= {api.key for api in APIS.values() if api.broker}
