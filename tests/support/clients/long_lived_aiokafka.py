"""aiokafka as a service runs it: it produces and consumes until it is killed."""

from __future__ import annotations

import asyncio  # noqa: TID251 - a client of its own process
import itertools
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError
from lines import EVERY, roles, say


async def produce(who: str, topic: str, name: str, settings: dict[str, Any]) -> None:
    async with AIOKafkaProducer(**settings) as producer, asyncio.TaskGroup() as sending:
        for number in itertools.count():
            sending.create_task(send(producer, who, topic, f"{name}-{number}"))
            await asyncio.sleep(EVERY)


async def send(producer: AIOKafkaProducer, who: str, topic: str, value: str) -> None:
    try:
        await producer.send_and_wait(topic, value.encode())
    except KafkaError as error:
        say(who, "error", f"not delivered: {error!r}")
    else:
        say(who, "acked", value)


async def consume(who: str, topic: str, name: str, settings: dict[str, Any]) -> None:
    async with AIOKafkaConsumer(topic, **settings) as consumer:
        while True:
            try:
                found = await consumer.getmany(timeout_ms=200)
            except KafkaError as error:
                say(who, "error", repr(error))
                continue
            for messages in found.values():
                for message in messages:
                    say(who, "consumed", message.value.decode())


async def run() -> None:
    kinds = {"producer": produce, "consumer": consume}
    async with asyncio.TaskGroup() as working:
        for who, role in roles().items():
            settings = {key.replace(".", "_"): value for key, value in role["settings"].items()}
            working.create_task(kinds[role["kind"]](who, role["topic"], role["name"], settings))


if __name__ == "__main__":
    asyncio.run(run())
