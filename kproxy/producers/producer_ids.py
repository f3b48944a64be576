# This module is pure (no I/O, no clock).
"""Keeps producer ids apart by the Kafka cluster that issued them.

This package's policies ask `ProducerIds` about each id that passes. `Cluster` replaces it at each failover.

Every Kafka cluster numbers its producers from 0, and a broker that has seen an id, epoch and sequence before takes the
batch for a duplicate: it acknowledges the batch and does not write it. A producer keeps its id when a failover moves it
to another cluster. So behind a virtual cluster of several upstream clusters an id must not mean two producers. kproxy
puts the cluster into the upper bits of each id that a client gets:

    bit 62   61 … 42               41 … 38                  37 … 0
    1        hash of the cluster   number of the failover   the broker's id

The hash is of Kafka's own cluster id. So it is the same in every replica, after every restart and whatever the
configuration calls the cluster.

*Without a transaction* a batch is written under the id that the client got. A broker takes an id that it has never
issued, from any sequence on: it keeps what it has seen of each id for each partition, and compares with nothing else
(measured with Kafka 4.3.1 and 4.4.0). When clients come back to a cluster, its brokers still have the sequences from
before, for a day (`producer.id.expiration.ms`), and refuse those that have gone on elsewhere
(OUT_OF_ORDER_SEQUENCE_NUMBER). So at a cluster where clients have been before, the number of the present failover is
XORed into each id from before it.

*In a transaction* the coordinator compares the id with the one that it has issued for the transactional id. So the
cluster that issued an id gets the broker's number back. Every other cluster gets the client's id, which none has
issued, and refuses it (INVALID_PRODUCER_ID_MAPPING). Two clusters may have issued the same number and epoch for one
transactional id. When ids passed unchanged, such a cluster committed a transaction that it had left open before the
failover, and lost the records that the commit was for.
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
_FAILOVERS: Final = 15
_FAILOVER_MASK: Final = 15
_FAILOVER_AT: Final = 38
_ISSUED: Final = (1 << _FAILOVER_AT) - 1
"""The bits of a broker's id: 275 billion. An id beyond that passes as it is; no Kafka cluster has issued as many."""
_CONTEXT: Final = b"kproxy producer ids: "


@dataclass(frozen=True, slots=True)
class ProducerIds:
    """How a virtual cluster keeps ids apart from one failover to the next.

    `upstream`: the configured name of the active upstream, used where Kafka gives no cluster id. `failovers`: how many
    there were so far. `returned`: clients have been at this Kafka cluster before, or may have been. `issues`: new ids
    get their cluster; otherwise only ids from before are still understood.
    """

    upstream: str
    failovers: int = 0
    returned: bool = False
    issues: bool = True

    def issued(self, producer_id: int, cluster_id: str | None) -> int:
        """Return the id that a client gets for one that a broker of the Kafka cluster has issued to it."""
        if not self.issues or not 0 <= producer_id <= _ISSUED:  # no id, or one of a kproxy behind this one
            return producer_id
        cluster = _hashed(cluster_id) if cluster_id else self._nameless
        return _MARK | cluster << _CLUSTER_AT | self._failover << _FAILOVER_AT | producer_id

    def renumbered(self, producer_id: int) -> int:
        """Return the id under which the active cluster gets a batch of this producer, without a transaction.

        An id without a cluster in it is from before kproxy kept ids apart. It stays as it is until the first failover.
        After it, the same id may belong to a producer that connects to the other cluster without kproxy.
        """
        if producer_id < 0 or not self.failovers:
            return producer_id
        if producer_id < _MARK:
            return _MARK | self._failover << _FAILOVER_AT | producer_id if self._is_old(producer_id) else producer_id
        issued_in = producer_id >> _FAILOVER_AT & _FAILOVER_MASK
        if not self.returned or issued_in == self._failover:
            return producer_id
        return producer_id ^ self._failover << _FAILOVER_AT

    def in_transaction(self, producer_id: int, cluster_id: str | None) -> int:
        """Return the id that a broker of the Kafka cluster gets in a transactional producer's requests and batches."""
        if producer_id < _MARK:
            return self.renumbered(producer_id)
        cluster = producer_id >> _CLUSTER_AT & _CLUSTERS
        is_its_own = cluster == self._nameless or (cluster_id and cluster == _hashed(cluster_id))
        return producer_id & _ISSUED if is_its_own else producer_id

    def _is_old(self, producer_id: int) -> bool:
        return self.issues and producer_id <= _ISSUED

    @property
    def _nameless(self) -> int:
        """The hash for the active cluster where its brokers give no cluster id."""
        return _hashed(f"upstream {self.upstream}")

    @property
    def _failover(self) -> int:
        """The number of the last failover as ids have it: 1 to 15, then 1 again; 0 only before the first."""
        return 1 + (self.failovers - 1) % _FAILOVERS if self.failovers else 0


def is_of_a_cluster(producer_id: int) -> bool:
    """True when a Kafka cluster is in the id, as in each that kproxy gives to a client."""
    return producer_id >= _MARK


@lru_cache(64)
def _hashed(cluster: str) -> int:
    """Return a hash from 1 on: 0 means no cluster."""
    digest = int.from_bytes(sha256(_CONTEXT + cluster.encode()).digest()[:8], "big")
    return 1 + digest % _CLUSTERS
