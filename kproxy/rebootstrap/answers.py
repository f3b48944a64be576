# This module is pure (no I/O, no clock).
"""REBOOTSTRAP_REQUIRED (129): whether a client gets it, and the Metadata that carries it (KIP-1102, KIP-1242).

This package's policies call `sends_away` for each request whose client may have to bootstrap again.

The bootstrap listener never answers 129, whatever is decided: clients would loop. The Metadata names the present nodes
as brokers, because a client that does not know the error, or is configured not to rebootstrap, uses the rest of the
response. For the same reason it names each topic that was asked for, as one without a leader: clients then ask for it
again. Otherwise the Java admin client would report that the topic does not exist.
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
    """What the policies of this room need from a virtual cluster; `kproxy.rebootstrap.service` implements it."""

    @property
    def may_know_another(self) -> bool:
        """Whether clients may come from another cluster or topology, also through kproxy before a restart of it."""

    def decide(self, context: Context, trigger: Trigger) -> Action:
        """Return what a client gets. Actions other than SERVE are counted, so call this once for each request."""

    def keeps_leader_epochs(self, context: Context) -> bool:
        """True when the client takes a leader with a lower epoch for outdated, even at another cluster."""

    def forgets_leader_epochs(self, context: Context, cluster_id: str | None) -> bool:
        """True when the client may know another cluster's leader epochs, and would believe no lower ones.

        Call this once for each Metadata response with epochs: if they are not removed, the client knows them from then
        on.
        """

    def hides_topic_ids(self, context: Context) -> bool:
        """True when the client gets neither topic ids nor leader epochs, so that it uses names at every cluster."""


def sends_away(rebootstrap: Rebootstrap, context: Context, trigger: Trigger) -> bool:
    """Return True to answer 129, or 16 for `Trigger.COORDINATOR`; False to serve the request.

    Raises `Fault` when the connection must end without an answer.
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
    """Return the body of a v13 response with 129; raise `Fault` where no node is known, because it must name one."""
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
