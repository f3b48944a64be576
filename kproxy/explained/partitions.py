# This module is pure (no I/O, no clock).
"""Errors of topics, their partitions, leaders and replicas."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import AGAIN, Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: Text(
            "The broker does not have this topic or partition.",
            "If it lasts, check the name, or create the topic.",
        ),
        ErrorCode.LEADER_NOT_AVAILABLE: Text(
            "The partition has no leader at this moment.",
            "If it lasts, bring back a broker with a replica of the partition.",
            kproxy="For the topics in a Metadata response whose error is 129, since kproxy names no leader there.",
        ),
        ErrorCode.NOT_LEADER_OR_FOLLOWER: Text(
            "The broker does not lead the partition, or has no replica of it: its leader has moved.",
            AGAIN,
        ),
        ErrorCode.REPLICA_NOT_AVAILABLE: Text(
            "The broker does not have the replica that the request is about.",
            "Nothing, unless it lasts: then look for brokers that are away.",
        ),
        ErrorCode.INVALID_TOPIC_EXCEPTION: Text(
            "The topic's name is not allowed, or the topic may not be used so.",
            "Use a name of at most 249 letters, digits, dots, underscores and hyphens, and no internal topic.",
        ),
        ErrorCode.TOPIC_ALREADY_EXISTS: Text(
            "A topic of this name is there already.",
            "Use the topic that there is, or another name.",
            kip=4,
        ),
        ErrorCode.INVALID_PARTITIONS: Text(
            "A topic cannot have this number of partitions, e.g. fewer than one or than it has.",
            "Ask for another number.",
            kip=4,
        ),
        ErrorCode.INVALID_REPLICATION_FACTOR: Text(
            "A topic cannot have this number of replicas, e.g. more than there are brokers.",
            "Ask for fewer replicas, or add brokers.",
            kip=4,
        ),
        ErrorCode.INVALID_REPLICA_ASSIGNMENT: Text(
            "The brokers that the request assigns to partitions are unknown, named twice, or not as many for each.",
            "Correct the assignment.",
            kip=4,
        ),
        ErrorCode.LOG_DIR_NOT_FOUND: Text(
            "The broker has no log directory of this path.",
            "Name one of the broker's log.dirs.",
            kip=113,
        ),
        ErrorCode.REASSIGNMENT_IN_PROGRESS: Text(
            "Replicas of the topic are being moved, and the request cannot be carried out meanwhile.",
            "Try again when the reassignment is complete.",
            kip=195,
        ),
        ErrorCode.LISTENER_NOT_FOUND: Text(
            "The partition's leader has no listener of the name by which the client reached its broker.",
            "If it lasts, give all brokers the same listeners.",
        ),
        ErrorCode.TOPIC_DELETION_DISABLED: Text(
            "The brokers are configured to delete no topics.",
            "Set delete.topic.enable at the brokers, if topics are to be deleted.",
            kip=322,
        ),
        ErrorCode.FENCED_LEADER_EPOCH: Text(
            "The client knows an earlier leader of the partition than the broker does.",
            AGAIN,
            kip=320,
        ),
        ErrorCode.UNKNOWN_LEADER_EPOCH: Text(
            "The client knows a later leader of the partition than the broker does.",
            AGAIN,
            kip=320,
        ),
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE: Text(
            "The first replica of the partition is away or not in sync, so it cannot become the leader.",
            "Bring back its broker, and elect again.",
            kip=183,
        ),
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE: Text(
            "No replica of the partition may become its leader.",
            "Bring back a broker that has a replica; an unclean election loses records.",
            kip=460,
        ),
        ErrorCode.ELECTION_NOT_NEEDED: Text(
            "The partition has the leader already that the election would give.",
            "Nothing: it is as was asked for.",
            kip=460,
        ),
        ErrorCode.NO_REASSIGNMENT_IN_PROGRESS: Text(
            "There is no reassignment of the partition that could be cancelled.",
            "Nothing: it has ended, or never began.",
            kip=455,
        ),
        ErrorCode.UNKNOWN_TOPIC_ID: Text(
            "The broker does not know a topic with this id: it was deleted, or the broker has not heard of it yet.",
            "If it lasts, check that the topic is there.",
            kip=516,
        ),
        ErrorCode.INCONSISTENT_TOPIC_ID: Text(
            "The broker has another id for the topic: it was deleted and created again.",
            AGAIN,
            kip=516,
        ),
    }
)
