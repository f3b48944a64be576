# This module is pure (no I/O, no clock).
"""Errors among brokers and controllers (KRaft), and of tools that administer them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import NOT_A_CLIENTS, Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.STALE_CONTROLLER_EPOCH: Text(
            "The request comes from a controller that has been replaced.",
            NOT_A_CLIENTS,
        ),
        ErrorCode.NOT_CONTROLLER: Text(
            "The broker is not the controller, which alone can do this.",
            "Nothing: the client asks again.",
            kip=4,
        ),
        ErrorCode.STALE_BROKER_EPOCH: Text(
            "The request is about a run of a broker that has ended since.",
            NOT_A_CLIENTS,
            kip=380,
        ),
        ErrorCode.INCONSISTENT_VOTER_SET: Text(
            "The sender or the receiver is not one of the voters that the other expects.",
            "Give all controllers the same controller.quorum.voters, where they are configured so.",
            kip=595,
        ),
        ErrorCode.INVALID_UPDATE_VERSION: Text(
            "The new version is not one to which the present one can be changed.",
            "Where it is about features, choose a level that all brokers and controllers support.",
        ),
        ErrorCode.FEATURE_UPDATE_FAILED: Text(
            "The cluster's feature levels could not be changed.",
            "Read the error message and the controller's log, and try again.",
            kip=584,
        ),
        ErrorCode.SNAPSHOT_NOT_FOUND: Text(
            "The snapshot of the cluster's metadata that is asked for is gone.",
            NOT_A_CLIENTS,
            kip=630,
        ),
        ErrorCode.POSITION_OUT_OF_RANGE: Text(
            "The request asks for a place outside of a snapshot.",
            NOT_A_CLIENTS,
            kip=630,
        ),
        ErrorCode.DUPLICATE_BROKER_REGISTRATION: Text(
            "Another running broker has this node id.",
            "Give each broker a node.id of its own, or wait until the other one is fenced.",
            kip=631,
        ),
        ErrorCode.BROKER_ID_NOT_REGISTERED: Text(
            "No broker of this node id is registered.",
            "Check the id.",
            kip=631,
        ),
        ErrorCode.INCONSISTENT_CLUSTER_ID: Text(
            "The request names another cluster id than the receiver's.",
            "Look for a node that was formatted for another cluster, or that is led to one.",
            kip=595,
        ),
        ErrorCode.INELIGIBLE_REPLICA: Text(
            "A replica may not come into sync now, e.g. since its broker is fenced or shuts down.",
            NOT_A_CLIENTS,
            kip=841,
        ),
        ErrorCode.NEW_LEADER_ELECTED: Text(
            "The change of the replicas in sync is made, and has given the partition another leader.",
            NOT_A_CLIENTS,
            kip=841,
        ),
        ErrorCode.MISMATCHED_ENDPOINT_TYPE: Text(
            "A request for brokers went to a controller, or one for controllers to a broker.",
            "Use bootstrap servers of brokers, and bootstrap controllers of controllers.",
            kip=919,
        ),
        ErrorCode.UNSUPPORTED_ENDPOINT_TYPE: Text(
            "The receiver does not know this type of endpoint.",
            "Use a tool and a cluster whose versions fit.",
            kip=919,
        ),
        ErrorCode.UNKNOWN_CONTROLLER_ID: Text(
            "There is no controller of this node id.",
            "Check the id.",
            kip=919,
        ),
        ErrorCode.INVALID_REGISTRATION: Text(
            "The controller does not accept a broker's registration, e.g. for its log directories.",
            "Read the controller's log, and correct the broker's configuration or directories.",
        ),
        ErrorCode.INVALID_VOTER_KEY: Text(
            "The request means a voter of the same id, but of another directory.",
            "Check the directory id of the controller.",
            kip=853,
        ),
        ErrorCode.DUPLICATE_VOTER: Text(
            "The controller is a voter already.",
            "Nothing: it is as was asked for.",
            kip=853,
        ),
        ErrorCode.VOTER_NOT_FOUND: Text(
            "The controller is not one of the voters.",
            "Check its id and directory id.",
            kip=853,
        ),
        ErrorCode.CONTROLLER_ID_NOT_REGISTERED: Text(
            "No controller of this node id is registered.",
            "Check the id.",
            kip=1312,
        ),
    }
)
