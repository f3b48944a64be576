"""aiokafka sends in rounds: see rounds.py."""

from __future__ import annotations

import asyncio  # noqa: TID251 - a client of its own process
import contextlib
import json
import sys
import time
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from rounds import Order, Outcome, Start, answer, named

CLOSING = 5.0


class Sender:
    """One producer, replaced by a new one when it is dead.

    It is dead after a failed record: the library has counted its sequence number, asks for no new id and goes on with
    the number after it, which the broker refuses from then on. In a transaction it is dead when it cannot abort.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = {key.replace(".", "_"): value for key, value in settings.items()}
        self._producer: Any = None
        self._open: list[str] = []

    async def obey(self, order: Order) -> Outcome:
        """Do a round."""
        outcome = Outcome()
        if "transactional_id" in self._settings:
            await self._transact(order, outcome)
            return outcome
        try:
            await self._deliver(order, outcome)
        except KafkaError:  # the outcome has the errors of records
            await self._replace(outcome)
        return outcome

    async def close(self) -> None:
        """Close the producer, which may be dead."""
        if self._producer is not None:
            with contextlib.suppress(KafkaError, TimeoutError):
                await asyncio.wait_for(self._producer.stop(), CLOSING)

    async def _deliver(self, order: Order, outcome: Outcome) -> None:
        """Send and wait for every record; raise the last error."""
        producer, sent, last = await self._ready_for(order, outcome), {}, None
        for value in order.values:
            try:
                sent[value] = await producer.send(order.topic, value.encode(), partition=order.partition)
            except KafkaError as error:
                last = error
                outcome.fail([value], named(error))
        for value, future in sent.items():
            try:
                await future
                outcome.acked.append(value)
            except KafkaError as error:
                last = error
                outcome.fail([value], named(error))
        if last is not None:
            raise last

    async def _transact(self, order: Order, outcome: Outcome) -> None:
        """Send in a transaction: a confirmed commit acknowledges its records; any error ends the transaction."""
        sent = Outcome()
        try:
            if order.only != "commit":
                self._open = order.values
                await (await self._ready()).begin_transaction()
                await self._deliver(order, sent)
            if order.only != "begin" and self._open:
                await self._producer.commit_transaction()
                outcome.acked += self._open
                self._open = []
        except KafkaError as error:
            outcome.fail(self._open, named(error))
            self._open = []
            await self._recover(outcome)

    async def _recover(self, outcome: Outcome) -> None:
        """Abort; where that fails, by an assertion of the library's after a fatal error, only a new producer helps."""
        if self._producer is not None:
            try:
                await self._producer.abort_transaction()
            except (KafkaError, AssertionError):
                await self._replace(outcome)

    async def _replace(self, outcome: Outcome) -> None:
        await self.close()
        self._producer = None
        outcome.replaced += 1
        with contextlib.suppress(KafkaError):  # the next round tries again, and fails with it
            await self._ready()

    async def _ready_for(self, order: Order, outcome: Outcome) -> Any:
        try:
            return await self._ready()
        except KafkaError as error:
            outcome.fail(order.values, named(error))
            raise

    async def _ready(self) -> Any:
        if self._producer is None:
            producer = AIOKafkaProducer(**self._settings)
            try:
                await producer.start()
            except KafkaError:
                await producer.stop()
                raise
            self._producer = producer
        return self._producer


async def main() -> None:
    """Let all producers do each round at once, as tasks."""
    start = Start.spoken()
    senders = [(f"{start.name}-{number}", Sender(start.own(number))) for number in range(start.producers)]
    while line := await asyncio.to_thread(sys.stdin.readline):
        said, begun = json.loads(line), time.monotonic()
        outcomes = await asyncio.gather(*(sender.obey(Order.of(said, name)) for name, sender in senders))
        answer(said, list(outcomes), time.monotonic() - begun)
    await asyncio.gather(*(sender.close() for _, sender in senders))


if __name__ == "__main__":
    asyncio.run(main())
