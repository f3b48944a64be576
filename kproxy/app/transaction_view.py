# This module is pure (no I/O, no clock).
"""Shows transactional ids to the admin port.

`ProcessView` calls it for each id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.admin.inventory import time_shown
from kproxy.admin.models import FencedProducerView, ProducerErrorView, TransactionalIdView
from kproxy.wire.apis import APIS
from kproxy.wire.error_codes import classify, error_name

if TYPE_CHECKING:
    from kproxy.transactions.transactional_id import Failure, TransactionalId


def transaction_view(cluster: str, found: TransactionalId) -> TransactionalIdView:
    """Return a transactional id of a virtual cluster as the API shows it."""
    client = found.client
    software_name, software_version = client.software or (None, None)
    return TransactionalIdView(
        cluster=cluster,
        transactional_id=found.transactional_id,
        state=found.state,
        since=time_shown(found.since),
        ending=found.ending,
        transaction_timeout=found.timeout,
        producer_id=_known(found.producer.id),
        producer_epoch=_known(found.producer.epoch),
        client_id=client.client_id,
        host=client.host,
        software_name=software_name,
        software_version=software_version,
        principal=client.principal,
        begun=_time(found.open_since),
        partitions=found.partitions,
        groups=found.groups,
        last_result=found.ended,
        last_cause=found.cause,
        last_ended=_time(found.ended_at),
        committed=found.committed,
        aborted=found.aborted,
        last_error=None if found.error is None else _error(found.error),
        fencings=found.fencings,
        last_fenced=None if found.fenced is None else _fenced(found.fenced),
    )


def _error(failure: Failure) -> ProducerErrorView:
    return ProducerErrorView(
        at=time_shown(failure.at),
        api=APIS[failure.api_key].name,
        error=error_name(failure.code),
        error_class=classify(failure.code, failure.api_key).value,
    )


def _fenced(failure: Failure) -> FencedProducerView:
    software_name, software_version = failure.client.software or (None, None)
    return FencedProducerView(
        at=time_shown(failure.at),
        client_id=failure.client.client_id,
        host=failure.client.host,
        software_name=software_name,
        software_version=software_version,
        principal=failure.client.principal,
        producer_epoch=_known(failure.epoch),
        error=error_name(failure.code),
    )


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else time_shown(seconds)
