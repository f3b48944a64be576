# This module is pure.
"""REBOOTSTRAP_REQUIRED (129): whether a client gets it, and the Metadata that says it (KIP-1102, KIP-1242).

Never at the bootstrap listener, whatever is decided: that would be a loop. The Metadata names the present nodes as
brokers, for a client that does not know the error, or is configured not to rebootstrap, takes what else it says. For
the same reason it names each topic that was asked for, as one without a leader: clients ask for it again. Without it,
the Java admin client would say that the topic does not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kproxy.observe.reasons import Reason
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import NEWEST_METADATA
from kproxy.rebootstrap.topics import with_topics
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.metadata_response import MetadataResponse, MetadataResponseBroker


class Rebootstrap(Protocol):
    """What the policies of this room ask of a virtual cluster; `kproxy.rebootstrap.service` answers."""

    def decide(self, context: Context, trigger: Trigger) -> Action:
        """What a client gets for what it asks; an action other than SERVE is counted, so ask once for each request."""

    def keeps_leader_epochs(self, context: Context) -> bool:
        """Whether the client takes leaders of lower epochs for outdated, even where another cluster names them."""

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """Whether the client may know leader epochs of another cluster than this one, and would believe no lower ones.

        Asked once for each Metadata response that has epochs: what is not forgotten is known from then on.
        """

    def hides_topic_ids(self, context: Context) -> bool:
        """Whether the client gets neither topic ids nor leader epochs, so that it goes by names at every cluster."""


def sends_away(rebootstrap: Rebootstrap, context: Context, trigger: Trigger) -> bool:
    """Whether the answer is 129, or 16 for `Trigger.COORDINATOR`; False for what was asked for.

    Raises `Fault` where the connection is to end without an answer.
    """
    action = rebootstrap.decide(context, trigger)
    if action is Action.SERVE:
        return False
    if action is Action.NOT_COORDINATOR and trigger is Trigger.COORDINATOR:
        return True
    if action is Action.NOTIFY and trigger is not Trigger.COORDINATOR and context.node_id is not None:
        return True
    if action is Action.REFUSE:
        raise Fault(Reason.RETIRED_NODE, f"node {context.node_id} is gone")
    raise Fault(Reason.REBOOTSTRAP, "the topology has changed")


def metadata(context: Context, topics: Sequence[bytes]) -> bytes:
    """The body of a v13 response that says 129; raises `Fault` where no node is known, for it must name one."""
    nodes = context.cluster.brokers(context.local_host)
    if not nodes:
        raise Fault(Reason.REBOOTSTRAP, "no present node is known that the client could go to")
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(*node) for node in nodes],
        cluster_id=context.cluster.cluster_id,
        controller_id=nodes[0][0],
        error_code=ErrorCode.REBOOTSTRAP_REQUIRED,
    )
    return with_topics(response.encode(NEWEST_METADATA), topics)
