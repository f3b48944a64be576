"""REBOOTSTRAP_REQUIRED: whether a client is told so, and the Metadata that says it (KIP-1102, KIP-1242).

Never where clients bootstrap, whatever the backend decides: that would be a loop. The Metadata names the present nodes
as brokers, for a client that does not know the error, or is configured not to rebootstrap, takes what else it says. For
the same reason it names each topic that was asked for, as one without a leader: clients ask for it again. Without it,
the Java admin client would say that the topic does not exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from kproxy.errors import REBOOTSTRAP_REQUIRED
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import NEWEST_METADATA, Context
from kproxy.protocol.fault import Fault
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.topics import with_topics
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker


def is_told(context: Context, ask: Trigger) -> bool:
    """Whether 129 is the answer, False for what was asked for; raises `Fault` where the connection is to end.

    For `Trigger.COORDINATOR` the answer is 16, at any listener.
    """
    means = context.backend.judge(context, ask)
    if means is Action.SERVE:
        return False
    if means is Action.NOT_COORDINATOR and ask is Trigger.COORDINATOR:
        return True
    if means is Action.TELL and ask is not Trigger.COORDINATOR and context.node_id is not None:
        context.told_in = context.backend.epoch
        return True
    if means is Action.REFUSE:
        raise Fault(Reason.RETIRED_NODE, f"node {context.node_id} is gone")
    raise Fault(Reason.REBOOTSTRAP, "the topology has changed")


def metadata(context: Context, topics: Sequence[bytes]) -> bytes:
    """The body of a v13 response; raises `Fault` where no node is known, for it must name one."""
    nodes = context.backend.brokers(context.local_host)
    if not nodes:
        raise Fault(Reason.REBOOTSTRAP, "no present node is known that the client could be told")
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(*node) for node in nodes],
        cluster_id=context.backend.cluster_id,
        controller_id=nodes[0][0],
        error_code=REBOOTSTRAP_REQUIRED,
    )
    return with_topics(response.encode(NEWEST_METADATA), topics)
