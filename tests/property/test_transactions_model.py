"""The table of transactional ids against a model of one dictionary, by random courses of a few producers."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kproxy.transactions.transactional_id import Client, Producer, State
from kproxy.transactions.transactional_ids import TransactionalIds
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode

NAMES = ("a", "b", "c")
TIMEOUT = 10.0
_names = st.sampled_from(NAMES)


@dataclass
class Id:
    """What a broker has: an epoch, whether a transaction is open and since when; results are what it has decided."""

    epoch: int = 0
    open_since: float | None = None
    over: bool = False
    """The present epoch ended with its transaction's timeout."""
    fenced_epochs: set[int] = field(default_factory=set)
    results: list[str] = field(default_factory=list)


class Transactions(RuleBasedStateMachine):
    """A broker that answers as Kafka does, and a kproxy that sees every answer."""

    def __init__(self) -> None:
        super().__init__()
        self.ids = TransactionalIds()
        self.broker: dict[str, Id] = {}
        self.now = 0.0

    def client(self, name: str, epoch: int) -> Client:
        """Each epoch of an id is another instance."""
        return Client(f"{name}-{epoch}", "192.0.2.1", None, None)

    @rule(name=_names)
    def begins_anew(self, name: str) -> None:
        """A new instance: the broker aborts what is open, and gives out the next epoch."""
        found = self.broker.setdefault(name, Id())
        if found.open_since is not None:
            found.results.append("aborted")
        found.epoch, found.open_since, found.over = found.epoch + 1, None, False
        self.ids.initialized(name, self.client(name, found.epoch), self.now, Producer(7, found.epoch), TIMEOUT)

    @precondition(lambda self: self.broker)
    @rule(name=_names, back=st.integers(0, 2), data=st.booleans())
    def sends(self, name: str, back: int, data: bool) -> None:
        """The present instance is heard, unless it has timed out; one of before is fenced."""
        found = self.broker.get(name)
        if found is None or found.epoch - back < 1:
            return
        epoch = found.epoch - back
        producer, client = Producer(-1 if data else 7, epoch), self.client(name, epoch)
        if back or found.over:
            found.fenced_epochs.update({epoch} if back else ())
            self.ids.failed(name, client, self.now, producer, ApiKey.PRODUCE, ErrorCode.INVALID_PRODUCER_EPOCH)
            return
        if found.open_since is None:
            found.open_since = self.now
        self.ids.took_part(name, client, self.now, producer)

    @rule(name=_names, commits=st.booleans(), bumps=st.booleans(), twice=st.booleans())
    def ends(self, name: str, commits: bool, bumps: bool, twice: bool) -> None:
        """The present instance ends what is open; a retry gets the same answer."""
        found = self.broker.get(name)
        if found is None or found.open_since is None:
            return
        asker, producer = self.client(name, found.epoch), Producer(7, found.epoch)
        found.results.append("committed" if commits else "aborted")
        found.epoch, found.open_since = found.epoch + bumps, None
        following = Producer(7, found.epoch) if bumps else None
        self.ids.ending(name, producer, commits=commits)
        for _ in range(1 + twice):
            self.ids.ended(name, asker, self.now, producer, commits=commits, following=following)

    @rule(seconds=st.sampled_from((1.0, 6.0, 30.0)))
    def time_passes(self, seconds: float) -> None:
        """The broker aborts what is open for too long, and ends its epoch by that."""
        self.now += seconds
        for _ in self.ids.expire(self.now):
            pass
        for found in self.broker.values():
            if found.open_since is not None and self.now - found.open_since > TIMEOUT:
                found.results.append("timed_out")
                found.open_since, found.over = None, True

    @invariant()
    def agree(self) -> None:
        """Open transactions, epochs, results and the number of fenced instances are the broker's."""
        assert len(self.ids) == len(self.broker)
        for name, found in self.broker.items():
            noted = self.ids.find(name)
            assert noted is not None
            assert (noted.state is State.BEGUN) == (found.open_since is not None)
            assert noted.producer == Producer(7, found.epoch)
            if found.open_since is not None:
                assert noted.open_since == found.open_since
            assert noted.ended == (found.results[-1] if found.results else None)
            assert noted.committed == found.results.count("committed")
            assert bool(noted.fencings) == bool(found.fenced_epochs)
            assert noted.fencings >= len(found.fenced_epochs)
        assert self.ids.open == sum(one.open_since is not None for one in self.broker.values())
        for result in ("committed", "aborted", "timed_out"):
            assert self.ids.results[result] == sum(one.results.count(result) for one in self.broker.values())


TestTransactions = Transactions.TestCase
