# This module is pure (no I/O, no clock).
"""Metrics of transactions. No label names a transactional id: there may be ten thousand.

kproxy.observe.prometheus reads them at each scrape of /metrics.
"""

from __future__ import annotations

from typing import Final

from kproxy.observe import series
from kproxy.observe.families.family import Family, Kind

TRANSACTIONS: Final[tuple[Family[series.Rows], ...]] = (
    Family(
        "kproxy_transactions_open",
        Kind.GAUGE,
        (),
        "Open transactions that have passed here.",
        series.transactions_open,
    ),
    Family(
        "kproxy_transactions_total",
        Kind.COUNTER,
        ("result",),
        "Transactions that have ended, by result: committed, aborted, fenced or timed_out.",
        series.transaction_results,
    ),
    Family(
        "kproxy_transactional_ids_left_out_total",
        Kind.COUNTER,
        (),
        "Transactional ids that were forgotten, or not taken up, for lack of room.",
        series.transactional_ids_left_out,
    ),
)
