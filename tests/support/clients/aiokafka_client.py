"""aiokafka as a user runs it: one scenario a process, since asyncio and Trio do not share one."""

from __future__ import annotations

import asyncio  # noqa: TID251 - a client of its own process
import functools
import time
from collections.abc import Callable, Coroutine
from typing import Any

import security
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError
from logins import Heard, logins
from records import PATIENCE, compare, main, record

KINDS: dict[str, dict[str, Any]] = {
    "all": {"acks": "all"},  # first: with acks=0 records are lost as long as the leader does not know the topic
    "1": {"acks": 1},
    "0": {"acks": 0},
    "idempotent": {"enable_idempotence": True},
}


async def create_and_describe(bootstrap: str, topic: str, replicas: int) -> list[tuple[int, str, int]]:
    admin = AIOKafkaAdminClient(**security.aiokafka(bootstrap))
    await admin.start()
    await admin.create_topics([NewTopic(topic, 3, replicas)])
    cluster = await admin.describe_cluster()
    await admin.close()
    return [(node["node_id"], node["host"], node["port"]) for node in cluster["brokers"]]


async def produce(producer: AIOKafkaProducer, topic: str, seed: str, count: int) -> list[int]:
    """Produce records; return the numbers of the acknowledged ones."""
    sent = []
    for number in range(count):
        key, value = record(seed, number)
        sent.append(await producer.send(topic, value, key))
    results = await asyncio.gather(*sent, return_exceptions=True)
    return [number for number, result in enumerate(results) if not isinstance(result, BaseException)]


async def committed(reader: AIOKafkaConsumer, partition: TopicPartition) -> int | None:
    """Return the offset that the last transaction has committed; another one when that does not come in time.

    aiokafka cannot ask for stable offsets (KIP-447): the broker may not have ended the transaction there yet.
    """
    offset: int | None = None
    for _ in range(200):
        offset = await reader.committed(partition)
        if offset == len("last"):
            break
        await asyncio.sleep(0.05)
    return offset


async def drink(
    bootstrap: str, topic: str, group: str, total: Callable[[], int | None], **settings: Any
) -> list[tuple[bytes, bytes]]:
    """Consume until there are as many records as `total` says; None: it is not known yet."""
    consumer = AIOKafkaConsumer(
        topic, **security.aiokafka(bootstrap), group_id=group, auto_offset_reset="earliest", **settings
    )
    await consumer.start()
    consumed: list[tuple[bytes, bytes]] = []
    quiet = time.monotonic()
    while (wanted := total()) is None or (len(consumed) < wanted and time.monotonic() - quiet < PATIENCE):
        for messages in (await consumer.getmany(timeout_ms=200)).values():
            consumed += [(message.key, message.value) for message in messages]
            quiet = time.monotonic()
    await consumer.commit()
    await consumer.stop()
    return consumed


async def everything(bootstrap: str, topic: str, group: str, count: int, replicas: int) -> dict[str, Any]:
    nodes = await create_and_describe(bootstrap, topic, replicas)
    results = {}
    produced = 0
    for name, settings in KINDS.items():
        async with AIOKafkaProducer(**security.aiokafka(bootstrap), **settings) as producer:
            acknowledged = await produce(producer, topic, name, count)
        produced += len(acknowledged)
        consumed = await drink(bootstrap, topic, f"{group}-{name}", functools.partial(int, produced))
        own = [(key, value) for key, value in consumed if key.startswith(f"{name}-".encode())]
        results[name] = compare(name, acknowledged, own)
    return {"nodes": nodes, "acks": results}


async def transactions(
    bootstrap: str, topic: str, group: str, count: int, transactional_id: str, before: int = 0
) -> dict[str, Any]:
    """Commit two transactions with an aborted one between; `before` records were in the topic."""
    partition = TopicPartition(topic, 0)
    result: dict[str, Any] = {}
    acknowledged = {}
    async with AIOKafkaProducer(**security.aiokafka(bootstrap), transactional_id=transactional_id) as producer:
        for seed in ("first", "aborted", "last"):
            await producer.begin_transaction()
            acknowledged[seed] = await produce(producer, topic, seed, count)
            await producer.send_offsets_to_transaction({partition: len(seed)}, f"{group}-offsets")
            if seed == "aborted":
                await producer.abort_transaction()
            else:
                await producer.commit_transaction()
    async with AIOKafkaConsumer(**security.aiokafka(bootstrap), group_id=f"{group}-offsets") as reader:
        result["committed"] = await committed(reader, partition)
    consumed = await drink(bootstrap, topic, group, lambda: before + 2 * count, isolation_level="read_committed")
    for seed, numbers in acknowledged.items():
        own = [(key, value) for key, value in consumed if key.startswith(f"{seed}-".encode())]
        result[seed] = compare(seed, numbers, own)
    return result


async def work(bootstrap: str, topic: str, group: str, count: int, transactional_id: str) -> dict[str, Any]:
    """Produce, read in a group, and do transactions with another group."""
    async with AIOKafkaProducer(**security.aiokafka(bootstrap)) as producer:
        acknowledged = await produce(producer, topic, "plain", count)
    plain = compare("plain", acknowledged, await drink(bootstrap, topic, f"{group}-plain", lambda: count))
    return {"plain": plain, **await transactions(bootstrap, topic, group, count, transactional_id, before=count)}


async def refusal(bootstrap: str) -> dict[str, Any]:
    """Return what its user is told: the error, and what is in the log."""
    heard, admin = Heard(), AIOKafkaAdminClient(**security.aiokafka(bootstrap))
    try:
        await admin.start()
    except KafkaError as error:
        return {"kind": type(error).__name__, "says": f"{error} | {heard.since()}"}
    return {}


async def follow(bootstrap: str, topic: str, group: str, seconds: float, seed: str = "follow") -> dict[str, Any]:
    """Produce and consume for a while, whatever happens to the brokers meanwhile."""
    futures: list[Any] = []

    async def run() -> None:
        async with AIOKafkaProducer(**security.aiokafka(bootstrap), enable_idempotence=True, linger_ms=5) as producer:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                key, value = record(seed, len(futures))
                futures.append(await producer.send(topic, value, key))
                await asyncio.sleep(0.001)
            await asyncio.gather(*futures, return_exceptions=True)

    def acknowledged() -> list[int]:
        return [number for number, future in enumerate(futures) if future.done() and not future.exception()]

    producing = asyncio.create_task(run())
    consumed = await drink(bootstrap, topic, group, lambda: len(acknowledged()) if producing.done() else None)
    await producing
    failed = [str(future.exception()) for future in futures if future.exception()]
    return {"produced": len(futures), "failed": failed[:3], **compare(seed, acknowledged(), consumed)}


def blocking(scenario: Callable[..., Coroutine[Any, Any, dict[str, Any]]]) -> Callable[..., dict[str, Any]]:
    return functools.wraps(scenario)(lambda **settings: asyncio.run(scenario(**settings)))


if __name__ == "__main__":
    main(
        everything=blocking(everything),
        transactions=blocking(transactions),
        follow=blocking(follow),
        logins=logins(blocking(work), blocking(refusal)),
    )
