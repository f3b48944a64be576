"""kafka-python sends in rounds: see rounds.py."""

from __future__ import annotations

import contextlib
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError
from rounds import Order, Outcome, named, run

PATIENCE = 150.0
"""Seconds for a record: longer than the library itself tries."""


class Sender:
    """One producer, replaced by a new one when it is dead.

    It is dead when `send` refuses, or when it cannot abort: after a fatal error each call says "in an error state".
    The library shows it in no other way; after all other failed deliveries it gets a new id by itself.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = {key.replace(".", "_"): value for key, value in settings.items()}
        self._producer: Any = None
        self._open: list[str] = []
        self._dead = False

    def obey(self, order: Order) -> Outcome:
        """Do a round."""
        outcome = Outcome()
        if "transactional_id" in self._settings:
            self._transact(order, outcome)
        else:
            with contextlib.suppress(KafkaError):  # the outcome has the errors of records
                self._deliver(order, outcome)
        if self._dead:
            self._replace(outcome)
        return outcome

    def _deliver(self, order: Order, outcome: Outcome) -> None:
        """Send and wait for every record; raise the last error."""
        sent, last = {}, None
        for value in order.values:
            try:
                sent[value] = self._ready().send(order.topic, value.encode(), partition=order.partition)
            except KafkaError as error:
                last = error
                outcome.fail([value], named(error))
                self._dead |= not isinstance(error, KafkaTimeoutError)
        for value, future in sent.items():
            try:
                future.get(PATIENCE)
                outcome.acked.append(value)
            except KafkaError as error:
                last = error
                outcome.fail([value], named(error))
        if last is not None:
            raise last

    def _transact(self, order: Order, outcome: Outcome) -> None:
        """Send in a transaction: a confirmed commit acknowledges its records; any error ends the transaction."""
        sent = Outcome()
        try:
            if order.only != "commit":
                self._open = order.values
                self._ready().begin_transaction()
                self._deliver(order, sent)
            if order.only != "begin" and self._open:
                self._producer.commit_transaction()
                outcome.acked += self._open
                self._open = []
        except KafkaError as error:
            outcome.fail(self._open, named(error))
            self._open = []
            self._recover()

    def _recover(self) -> None:
        """Abort; where that fails, nothing is left to do."""
        if self._producer is not None and not self._dead:
            try:
                self._producer.abort_transaction()
            except KafkaError:
                self._dead = True

    def _replace(self, outcome: Outcome) -> None:
        if self._producer is not None:
            self._producer.close(timeout=0)
        self._producer, self._dead = None, False
        outcome.replaced += 1
        with contextlib.suppress(KafkaError):  # the next round tries again, and fails with it
            self._ready()

    def _ready(self) -> Any:
        if self._producer is None:
            producer = KafkaProducer(**self._settings)
            if "transactional_id" in self._settings:
                try:
                    producer.init_transactions()
                except KafkaError:
                    producer.close(timeout=0)
                    raise
            self._producer = producer
        return self._producer


if __name__ == "__main__":
    run(lambda settings: Sender(settings).obey)
