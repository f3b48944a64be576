"""confluent-kafka (librdkafka) sends in rounds: see rounds.py."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from rounds import Order, Outcome, run

TIMEOUT = 60.0


class Sender:
    """One producer, replaced by a new one when it is dead.

    It is dead after an error with `fatal()` in a call or a report: librdkafka then refuses everything for good.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._producer: Producer | None = None
        self._open: list[str] = []
        self._dead = False

    def obey(self, order: Order) -> Outcome:
        """Do a round."""
        outcome = Outcome()
        if "transactional.id" in self._settings:
            self._transact(order, outcome)
        else:
            with contextlib.suppress(KafkaException):  # the outcome has the errors of records
                self._deliver(order, outcome)
        if self._dead:
            self._replace(outcome)
        return outcome

    def _deliver(self, order: Order, outcome: Outcome) -> None:
        """Send and wait for every report; raise KafkaException with the last error."""
        producer = self._ready()
        reports: dict[str, KafkaError | None] = {}

        def on_delivery(value: str, error: KafkaError | None, _: Message | None = None) -> None:
            reports[value] = error

        for value in order.values:
            try:
                producer.produce(
                    order.topic, value.encode(), partition=order.partition, on_delivery=partial(on_delivery, value)
                )
            except KafkaException as error:
                on_delivery(value, error.args[0])
        if fatal := _wait(producer, lambda: len(reports) == len(order.values)):
            self._dead = True
            reports = {value: reports.get(value, fatal) for value in order.values}
        outcome.acked += [value for value, error in reports.items() if error is None]
        errors = {value: error for value, error in reports.items() if error is not None}
        self._dead |= any(error.fatal() for error in errors.values())
        outcome.failed |= {value: _named(error, self._dead) for value, error in errors.items()}
        if errors:
            raise KafkaException(next(reversed(errors.values())))

    def _transact(self, order: Order, outcome: Outcome) -> None:
        """Send in a transaction: a confirmed commit acknowledges its records; any error ends the transaction."""
        sent = Outcome()
        try:
            if order.only != "commit":
                self._open = order.values
                self._ready().begin_transaction()
                self._deliver(order, sent)
            if order.only != "begin" and self._open:
                self._commit()
                outcome.acked += self._open
                self._open = []
        except KafkaException as error:
            failure: KafkaError = error.args[0]
            outcome.fail(self._open, _named(failure, failure.fatal()))
            self._open = []
            self._recover(failure)

    def _commit(self) -> None:
        """Commit, again after a retriable error, as the documentation says: the commit goes on meanwhile."""
        try:
            self._ready().commit_transaction(TIMEOUT)
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
            self._ready().commit_transaction(TIMEOUT)

    def _recover(self, error: KafkaError) -> None:
        """Abort, as the documentation says, unless the error is fatal; where that fails, nothing is left to do."""
        if self._producer is None or self._dead:
            return
        self._dead = error.fatal()
        if not self._dead:
            try:
                self._producer.abort_transaction(TIMEOUT)
            except KafkaException:
                self._dead = True

    def _replace(self, outcome: Outcome) -> None:
        self._producer, self._dead = None, False
        outcome.replaced += 1
        with contextlib.suppress(KafkaException):  # the next round tries again, and fails with it
            self._ready()

    def _ready(self) -> Producer:
        if self._producer is None:
            producer = Producer(self._settings)
            if "transactional.id" in self._settings:
                producer.init_transactions(TIMEOUT)
            self._producer = producer
        return self._producer


def _wait(producer: Producer, reported: Callable[[], bool]) -> KafkaError | None:
    """Wait for the reports; a fatal error ends the wait: the library raises it in place of a report.

    The next report is lost then: the library calls Python with an exception that is raised already.
    """
    while not reported():
        try:
            producer.poll(0.1)
        except KafkaException as error:
            return _reports_after(producer, error.args[0])
        except SystemError as error:
            return _reports_after(producer, (error.__cause__ or error).args[0])
    return None


def _reports_after(producer: Producer, fatal: KafkaError) -> KafkaError:
    for _ in range(3):  # of what was under way: each call raises again at most once
        with contextlib.suppress(KafkaException, SystemError):
            producer.flush(1)
    return fatal


def _named(error: KafkaError, fatal: bool) -> str:
    return f"{error.name()}{' (fatal)' if fatal else ''}: {error.str()}"


if __name__ == "__main__":
    run(lambda settings: Sender(settings).obey)
