"""aiokafka: a producer, and members of a group.

Takes JSON: servers, topic, group, count, login. Prints JSON: what each of two consumers of the group has read.
"""

from __future__ import annotations

import asyncio  # noqa: TID251 - a client of its own process
import json
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SETTINGS = json.loads(sys.argv[1])
TOPIC = SETTINGS["topic"]
SECONDS = 60


def security() -> dict[str, object]:
    """How it logs in."""
    login = SETTINGS["login"]
    if not login:
        return {}
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": login["mechanism"],
        "sasl_plain_username": login["username"],
        "sasl_plain_password": login["password"],
    }


COMMON = {"bootstrap_servers": SETTINGS["servers"], **security()}


async def write(numbers: range) -> None:
    """Write numbers, each acknowledged by all replicas."""
    async with AIOKafkaProducer(acks="all", **COMMON) as producer:
        sent = [await producer.send(TOPIC, str(number).encode(), str(number).encode()) for number in numbers]
        await asyncio.gather(*sent)


async def read(count: int) -> list[int]:
    """Read this many records as a member of the group, and commit them."""
    member = AIOKafkaConsumer(
        TOPIC, group_id=SETTINGS["group"], auto_offset_reset="earliest", enable_auto_commit=False, **COMMON
    )
    async with member:
        found = [int((await member.getone()).value) for _ in range(count)]
        await member.commit()
    return sorted(found)


async def main() -> None:
    """Read twice, the second time what was written after the first."""
    async with asyncio.timeout(SECONDS):
        await write(range(SETTINGS["count"]))
        first = await read(SETTINGS["count"])
        await write(range(SETTINGS["count"], SETTINGS["count"] + 1))
        print(json.dumps([first, await read(1)]))


asyncio.run(main())
