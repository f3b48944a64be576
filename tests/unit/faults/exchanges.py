"""A request of every API in which faults are injected, in every version, and where its answer must have the error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from kproxy.config.faults import API_KEYS
from kproxy.wire.generated.api_keys import ApiKey
from tests.property.wire_contents import Content
from tests.unit.relay import frames

CODE: Final = 6
"""NOT_LEADER_OR_FOLLOWER."""
NODES: Final = ((7, "proxy.example", 9100, "rack"), (1001, "proxy.example", 9101, None))
_IDS: Final = (bytes(15) + b"\1", bytes(15) + b"\2")
_NAMES: Final = ("orders", "payments")


class Exchange(NamedTuple):
    """A request's content, and where its answer has the error, in the order of the wire; nowhere else has it one."""

    key: int
    version: int
    content: Content
    errors: list[tuple[object, ...]]

    def request(self, correlation_id: int = 5, client_id: str | None = "orders-1") -> bytes:
        """The request with its size."""
        return frames.request(self.key, self.version, correlation_id, self.content, client_id)


def exchanges() -> Iterator[Exchange]:
    """Every API in every version."""
    for key in API_KEYS.values():
        for version in frames.versions(key):
            yield from (Exchange(key, version, *one) for one in _MAKE[key](version))


_Made = list[tuple[Content, list[tuple[object, ...]]]]


def _each(named: tuple[object, ...] = _NAMES) -> list[tuple[object, ...]]:
    return [(topic, index) for topic in named for index in (0, 3)]


def _topics(key: str, by_id: bool, partitions: list[Any], of: str) -> list[Content]:
    named = zip(_NAMES, _IDS, strict=True)
    return [({"TopicId": number} if by_id else {key: name}) | {of: partitions} for name, number in named]


def _produce(version: int) -> _Made:
    by_id = version >= 13
    partitions = [{"Index": index, "Records": bytes(500)} for index in (0, 3)]
    content = {"Acks": -1, "TopicData": _topics("Name", by_id, partitions, "PartitionData")}
    return [(content, _each(_IDS if by_id else _NAMES))]


def _fetch(version: int) -> _Made:
    by_id = version >= 13
    partitions = [{"Partition": index} for index in (0, 3)]
    named: Content = {"Topics": _topics("Topic", by_id, partitions, "Partitions")}
    made: _Made = [(named, _each(_IDS if by_id else _NAMES))]
    return [*made, ({"SessionId": 9, "SessionEpoch": 3}, [()])] if version >= 7 else made


def _metadata(version: int) -> _Made:
    named: Content = {"Topics": [{"Name": name} for name in _NAMES]}
    made: _Made = [(named, [(name,) for name in _NAMES])]
    if version >= 12:
        made.append(({"Topics": [{"Name": None, "TopicId": _IDS[0]}]}, [(_IDS[0],)]))
    return made


def _list_offsets(_: int) -> _Made:
    partitions = [{"PartitionIndex": index} for index in (0, 3)]
    return [({"Topics": _topics("Name", False, partitions, "Partitions")}, _each())]


def _commit(by_id_from: int) -> Callable[[int], _Made]:
    def make(version: int) -> _Made:
        by_id = version >= by_id_from
        partitions = [{"PartitionIndex": index} for index in (0, 3)]
        content = {"Topics": _topics("Name", by_id, partitions, "Partitions")}
        return [(content, _each(_IDS if by_id else _NAMES))]

    return make


def _offset_fetch(version: int) -> _Made:
    if version >= 8:
        return [({"Groups": [{"GroupId": "a", "Topics": None}, {"GroupId": "b"}]}, [("a",), ("b",)])]
    content: Content = {"GroupId": "a", "Topics": _topics("Name", False, [0, 3], "PartitionIndexes")}
    return [(content, [*_each(), ()] if version >= 2 else _each())]


def _find_coordinator(version: int) -> _Made:
    if version < 4:
        return [({"Key": "a"}, [()])]
    return [({"CoordinatorKeys": ["a", "b"]}, [("a",), ("b",)])]


def _add_partitions(version: int) -> _Made:
    topics = _topics("Name", False, [0, 3], "Partitions")
    if version < 4:
        return [({"V3AndBelowTransactionalId": "t", "V3AndBelowTopics": topics}, _each())]
    transactions = [{"TransactionalId": name, "Topics": topics} for name in ("t", "u")]
    return [({"Transactions": transactions}, [(name, *place) for name in ("t", "u") for place in _each()])]


def _create_topics(_: int) -> _Made:
    return [({"Topics": [{"Name": name} for name in _NAMES]}, [(name,) for name in _NAMES])]


def _delete_topics(version: int) -> _Made:
    if version < 6:
        return [({"TopicNames": list(_NAMES)}, [(name,) for name in _NAMES])]
    content: Content = {"Topics": [{"Name": "orders"}, {"Name": None, "TopicId": _IDS[1]}]}
    return [(content, [("orders",), (_IDS[1],)])]


def _at_the_top(_: int) -> _Made:
    return [({}, [()])]


_MAKE: Final[Mapping[int, Callable[[int], _Made]]] = {
    ApiKey.PRODUCE: _produce,
    ApiKey.FETCH: _fetch,
    ApiKey.LIST_OFFSETS: _list_offsets,
    ApiKey.METADATA: _metadata,
    ApiKey.OFFSET_COMMIT: _commit(10),
    ApiKey.OFFSET_FETCH: _offset_fetch,
    ApiKey.FIND_COORDINATOR: _find_coordinator,
    ApiKey.JOIN_GROUP: _at_the_top,
    ApiKey.HEARTBEAT: _at_the_top,
    ApiKey.LEAVE_GROUP: _at_the_top,
    ApiKey.SYNC_GROUP: _at_the_top,
    ApiKey.CREATE_TOPICS: _create_topics,
    ApiKey.DELETE_TOPICS: _delete_topics,
    ApiKey.INIT_PRODUCER_ID: _at_the_top,
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions,
    ApiKey.ADD_OFFSETS_TO_TXN: _at_the_top,
    ApiKey.END_TXN: _at_the_top,
    ApiKey.TXN_OFFSET_COMMIT: _commit(6),
}
_PLACES: Final = ("Name", "Topic", "TopicId", "Key", "GroupId", "TransactionalId", "Index", "PartitionIndex")


def errors_in(content: Content, code: int = CODE) -> list[tuple[object, ...]]:
    """Where a response that was read has an error code, which must be this one."""
    return list(_errors(content, (), code))


def _errors(content: Content, place: tuple[object, ...], code: int) -> Iterator[tuple[object, ...]]:
    for name, value in content.items():
        if isinstance(value, list):
            for one in value:
                if isinstance(one, dict):
                    here = [one[key] for key in _PLACES if one.get(key) not in (None, "", bytes(16))]
                    yield from _errors(one, (*place, *here), code)
        elif name.endswith("ErrorCode") and value:
            assert value == code
            yield place
