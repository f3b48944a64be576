"""Producer ids, told apart by the Kafka cluster that issued them. Pure.

Every Kafka cluster numbers its producers from 0, and a broker that has seen an id, epoch and sequence before takes the
batch for a duplicate: it acknowledges the batch and does not write it. A producer keeps its id when a failover moves it
to another cluster. So behind a virtual cluster of several upstream clusters an id must not mean two producers. kproxy
puts the cluster into the upper bits of each id that a client gets:

    bit 62   61 … 42               41 … 38              37 … 0
    1        hash of the cluster   number of the stay   the broker's id

The hash is of Kafka's own cluster id, so it is the same in every replica, after every restart and whatever the
configuration calls the cluster.

*Without a transaction* a batch goes on under the id that the client got. A broker takes an id that it has never issued,
from any sequence on: it keeps what it has seen of each id for each partition, and compares with nothing else (measured
with Kafka 4.3.1 and 4.4.0). So no batch is touched before clients come back to a cluster. There the broker still has
the sequences of their earlier stay, for a day (`producer.id.expiration.ms`), and refuses those that have gone on
elsewhere (OUT_OF_ORDER_SEQUENCE_NUMBER). A *stay* is the time from one failover to the next: there, an id from another
one is carried on under another number of the stay.

*In a transaction* the coordinator compares the id with the one that it has issued for the transactional id. So its own
cluster gets the broker's id back. Every other cluster gets the id as it is, which none has issued, and refuses it
(INVALID_PRODUCER_ID_MAPPING). Two clusters that have issued the same id and epoch for one transactional id would take
each other's transactions for their own otherwise: they commit what is not theirs, and lose what is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

_MARK: Final = 1 << 62
_CLUSTER_BITS: Final = 20
_CLUSTER_AT: Final = 42
_CLUSTERS: Final = (1 << _CLUSTER_BITS) - 1
_STAYS: Final = 15
_STAY_AT: Final = 38
_ISSUED: Final = (1 << _STAY_AT) - 1
"""The bits of a broker's id: 275 billion. An id beyond that passes as it is; no Kafka cluster has issued as many."""
_CONTEXT: Final = b"kproxy producer ids: "


@dataclass(frozen=True, slots=True)
class ProducerIds:
    """How a virtual cluster keeps ids apart during one stay.

    `upstream` is what the configuration calls the active upstream cluster: it stands for a cluster id where Kafka names
    none. `stay` counts the failovers before this stay. `returned` when clients have been at this cluster before.
    """

    upstream: str
    stay: int = 0
    returned: bool = False

    def issued(self, producer_id: int, cluster_id: str | None) -> int:
        """What a client is told for an id that a broker of the Kafka cluster has issued to it."""
        if not 0 <= producer_id <= _ISSUED:  # none, or of a kproxy behind this one, which has kept it apart
            return producer_id
        cluster = _hashed(cluster_id) if cluster_id else self._nameless
        return _MARK | cluster << _CLUSTER_AT | self._stay << _STAY_AT | producer_id

    def carried(self, producer_id: int) -> int:
        """The id under which the active cluster gets a batch of this producer, without a transaction.

        An id without a cluster in it is from before kproxy kept ids apart. It stays as it is until the first failover:
        then another producer, that the other cluster has met around kproxy, may have the same.
        """
        if producer_id < 0 or not self.stay:
            return producer_id
        if not producer_id & _MARK:
            return _MARK | self._stay << _STAY_AT | producer_id if producer_id <= _ISSUED else producer_id
        issued_in = producer_id >> _STAY_AT & _STAYS
        return producer_id ^ self._stay << _STAY_AT if self.returned and issued_in != self._stay else producer_id

    def transactional(self, producer_id: int, cluster_id: str | None) -> int | None:
        """The id under which a broker of the Kafka cluster gets what a transactional producer asks or writes.

        None where that depends on the cluster, and it is not known.
        """
        if producer_id < 0:
            return producer_id
        if not producer_id & _MARK:
            return self.carried(producer_id)
        cluster = producer_id >> _CLUSTER_AT & _CLUSTERS
        if cluster == self._nameless or (cluster_id and cluster == _hashed(cluster_id)):
            return producer_id & _ISSUED
        return producer_id if cluster_id else None

    @property
    def _nameless(self) -> int:
        """What stands for the active cluster where its brokers name none."""
        return _hashed(f"upstream {self.upstream}")

    @property
    def _stay(self) -> int:
        """The number of the stay as ids have it: 0 only before the first failover."""
        return 1 + (self.stay - 1) % _STAYS if self.stay else 0


def is_of_a_cluster(producer_id: int) -> bool:
    """Whether a Kafka cluster is in the id, as in each that a client gets."""
    return producer_id >= _MARK


@lru_cache(64)
def _hashed(cluster: str) -> int:
    """From 1 on: 0 stands for no cluster."""
    digest = int.from_bytes(sha256(_CONTEXT + cluster.encode()).digest()[:8], "big")
    return 1 + digest % _CLUSTERS
