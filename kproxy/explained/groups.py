# This module is pure (no I/O, no clock).
"""Errors of consumer groups, and of the coordinator that serves them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kproxy.explained.text import AGAIN, Text
from kproxy.wire.generated.error_codes import ErrorCode

TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(
    {
        ErrorCode.OFFSET_METADATA_TOO_LARGE: Text(
            "The text that was to be stored with an offset is too long.",
            "Shorten it, or raise offset.metadata.max.bytes at the brokers.",
        ),
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Text(
            "The coordinator is still reading what it must know of the group or transaction.",
            AGAIN,
            kproxy="For hosted groups, until kproxy has read its own state after a start.",
        ),
        ErrorCode.COORDINATOR_NOT_AVAILABLE: Text(
            "There is no coordinator for the group or transaction at this moment.",
            "If it lasts, check that __consumer_offsets or __transaction_state has leaders.",
            kproxy="For hosted groups whose state cannot be written, or whose broker does not answer.",
        ),
        ErrorCode.NOT_COORDINATOR: Text(
            "Another broker is the coordinator of this group or transaction.",
            AGAIN,
            kproxy="To members of groups on connections from before the epoch rose, and of hosted groups at a drain, "
            "so that they look for their coordinator again (docs/rebootstrap-table.md, docs/groups.md).",
        ),
        ErrorCode.ILLEGAL_GENERATION: Text(
            "The member speaks of a generation of its group that is over.",
            "Nothing for a consumer that joins again; in a transaction make the producer anew, and read again from the "
            "committed offsets.",
            client="A consumer joins its group again; a commit that gets it has failed. Java 4.1's producer takes it "
            "for abortable in TxnOffsetCommit.",
            kproxy="For hosted groups: to members of an earlier generation, and after a failover to another Kafka "
            "cluster.",
        ),
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL: Text(
            "The member has no way of assigning partitions in common with the rest of its group.",
            "Give all members of the group an assignor in common, and do not mix consumers with other members.",
            kproxy="For hosted groups, as Kafka's coordinator; and where the group has live members of another kind: "
            "to a member of the classic protocol, and to one of a KIP-848, share or Streams group.",
        ),
        ErrorCode.INVALID_GROUP_ID: Text(
            "The group has an id that is empty or not allowed.",
            "Set group.id.",
            kproxy="For a JoinGroup with an empty id, where a rule for hosted groups matches it.",
        ),
        ErrorCode.UNKNOWN_MEMBER_ID: Text(
            "The coordinator does not have this member any more: its session timed out, or it has left.",
            "If it comes often, look for members that do not poll in time; in a transaction make the producer anew.",
            client="A consumer joins its group again; a commit that gets it has failed. Java 4.1's producer takes it "
            "for abortable in TxnOffsetCommit.",
            kproxy="For hosted groups, as Kafka's coordinator; in place of 69 to heartbeats of KIP-848, share and "
            "Streams groups once the epoch has risen, since their members would stop for good.",
        ),
        ErrorCode.INVALID_SESSION_TIMEOUT: Text(
            "The member asks for a session timeout outside the limits of the coordinator.",
            "Set session.timeout.ms within the limits.",
            kproxy="For hosted groups, by min_session_timeout and max_session_timeout.",
        ),
        ErrorCode.REBALANCE_IN_PROGRESS: Text(
            "The group is distributing its partitions anew.",
            "Nothing, unless it comes all the time: then look for members that come and go.",
            client="A consumer joins its group again; a commit that gets it has failed.",
            kproxy="For hosted groups, while they rebalance.",
        ),
        ErrorCode.INVALID_COMMIT_OFFSET_SIZE: Text(
            "The commit is larger than the coordinator's log can take at a time.",
            "Commit fewer partitions at a time, or shorter metadata.",
        ),
        ErrorCode.NON_EMPTY_GROUP: Text(
            "The group has members, so it or its offsets cannot be deleted.",
            "Stop the members first.",
            kproxy="For hosted groups, as Kafka's coordinator.",
            kip=229,
        ),
        ErrorCode.GROUP_ID_NOT_FOUND: Text(
            "The coordinator has no group of this id.",
            "Check the id.",
            kproxy="For hosted groups, as Kafka's coordinator.",
            kip=229,
        ),
        ErrorCode.MEMBER_ID_REQUIRED: Text(
            "A new member gets its id with this answer, and is to join with it.",
            AGAIN,
            client="It joins again with the id that it was given (KIP-394).",
            kproxy="For hosted groups, to new members without group.instance.id, from JoinGroup v4 on.",
            kip=394,
        ),
        ErrorCode.GROUP_MAX_SIZE_REACHED: Text(
            "The group has as many members as it may have.",
            "Run fewer members, or raise the limit.",
            kproxy="For hosted groups, by max_members.",
            kip=389,
        ),
        ErrorCode.FENCED_INSTANCE_ID: Text(
            "Another consumer with the same group.instance.id has taken this one's place.",
            "Give each consumer an instance id of its own.",
            client="Java 4.1's producer takes it for abortable in TxnOffsetCommit.",
            kproxy="For hosted groups, as Kafka's coordinator.",
            kip=345,
        ),
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: Text(
            "Members of the group read the topic, so its offsets cannot be deleted.",
            "Stop the members that read it first.",
            kproxy="For hosted groups, as Kafka's coordinator.",
            kip=496,
        ),
        ErrorCode.FENCED_MEMBER_EPOCH: Text(
            "The coordinator has gone on without this member, which must give up its partitions.",
            AGAIN,
            client="It gives up its partitions, and joins again (KIP-848).",
            kip=848,
        ),
        ErrorCode.UNRELEASED_INSTANCE_ID: Text(
            "Another member still has this group.instance.id, and has not left.",
            "Stop the other one, or wait for the end of its session.",
            kip=848,
        ),
        ErrorCode.UNSUPPORTED_ASSIGNOR: Text(
            "The coordinator does not have the assignor that the member asks for.",
            "Set group.remote.assignor to one of the brokers' group.consumer.assignors.",
            kip=848,
        ),
        ErrorCode.STALE_MEMBER_EPOCH: Text(
            "The member does not know its present epoch yet.",
            AGAIN,
            client="It tries again when a heartbeat has told it its epoch (KIP-848).",
            kip=848,
        ),
        ErrorCode.INVALID_REGULAR_EXPRESSION: Text(
            "The coordinator cannot read the regular expression of a subscription.",
            "Write it in the syntax of RE2/J.",
            kip=848,
        ),
        ErrorCode.GROUP_DELETION_FAILED: Text(
            "What is stored for the group outside of the broker could not be deleted, so the group is still there.",
            "Read the error message, and delete the group again.",
            kip=1331,
        ),
    }
)
