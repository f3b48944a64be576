"""Transactional ids that both clusters know with the same producer id, as of applications that ran at both before."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from tests.support.backend import Backend
from tests.support.short_lived import Identities

with warnings.catch_warnings():  # kafka-python's own imports warn
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.admin import KafkaAdminClient


def prepare(here: Backend, there: Backend, transactional_ids: Iterable[str]) -> None:
    """Make the ids known here, with producer ids that the other cluster has not given yet."""
    with Identities(here) as at_here, Identities(there) as at_there:
        beyond = at_there.new()[0] + 1
        while at_here.new()[0] < beyond:
            pass
        for one in transactional_ids:
            for side in (at_here, at_there):
                side.find(one)
            at_here.new(one)


def complete(here: Backend, there: Backend, transactional_ids: Iterable[str]) -> None:
    """Give each transactional id the producer id there that it has here, in the epoch before.

    The next producer of that transactional id there then has the id and the epoch that it has here.
    """
    admin = KafkaAdminClient(bootstrap_servers=here.cluster.bootstrap.split(","))
    try:
        known = admin.describe_transactions(list(transactional_ids))
    finally:
        admin.close()
    with Identities(there) as at_there:
        latest, _ = at_there.new()
        for name, one in sorted(known.items(), key=lambda item: int(item[1].producer_id)):
            while latest < one.producer_id - 1:
                latest, _ = at_there.new()
            identities = [at_there.new(name) for _ in range(one.producer_epoch)]
            assert identities[-1] == (one.producer_id, one.producer_epoch - 1), f"{name}: {identities}"
            latest = one.producer_id
