# This module is pure.
"""DescribeCluster (60): the brokers' addresses are replaced and learnt, as in Metadata.

Version notes: v1 adds EndpointType; the addresses of controllers are masked, though a broker's listener tells none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproxy.protocol.api_table import ApiPolicy, Chunk, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.reading import well_formed
from kproxy.relay.apis.addresses import each, replaced
from kproxy.relay.apis.learning import described_cluster_id, learn
from kproxy.wire.skim import Skimmed

KEY: Final = 60


def rewrite(route: Route) -> Respond:
    """Replace the addresses, and learn whose they are."""

    def replace(context: Context, frame: memoryview, body: int, found: Skimmed) -> Sequence[Chunk]:
        with well_formed("DescribeCluster response"):
            cluster_id = described_cluster_id(frame, body, route.version)
        learn(context, found, cluster_id)
        return replaced(context, frame, body, found)

    return each(route, replace)


POLICY: Final = ApiPolicy(on_response=OnResponse.WHOLE, response=rewrite)
