"""The policies of hosted groups: what kproxy does with each API of a group that it coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from kproxy.coordinator.apis import (
    bounds,
    commits,
    delete_groups,
    describe_groups,
    list_groups,
    members,
    newer_groups,
    offset_delete,
)
from kproxy.coordinator.apis.admin_request import MOST_GROUPS, concerned, naming, policy
from kproxy.coordinator.apis.group_request import of_members
from kproxy.protocol.api_table import ApiPolicy, OnRequest, RequestHandler
from kproxy.protocol.group_errors import COMMITS
from kproxy.wire.commit_walk import CommitWalk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.group_walks import DeletedGroups, DescribedGroups, ListedGroups, NamedGroups

if TYPE_CHECKING:
    from kproxy.coordinator.hosting import Hosting

_HELD: Final = 8 << 20
"""Bytes held of a request: a leader's SyncGroup has every member's assignment."""


def policies(groups: Hosting) -> Mapping[int, ApiPolicy]:
    """Return the policies of a virtual cluster's hosted groups, by api key."""
    handlers: dict[int, RequestHandler] = {
        ApiKey.JOIN_GROUP: of_members(groups, bounds.decode_join, members.join),
        ApiKey.SYNC_GROUP: of_members(groups, bounds.decoding_sync(groups), members.sync),
        ApiKey.HEARTBEAT: of_members(groups, HeartbeatRequest.decode, members.heartbeat),
        ApiKey.LEAVE_GROUP: of_members(groups, bounds.decode_leave, members.leave),
        ApiKey.OFFSET_COMMIT: partial(commits.commit, groups),
        ApiKey.TXN_OFFSET_COMMIT: partial(commits.commit_in_transaction, groups),
        ApiKey.OFFSET_DELETE: partial(offset_delete.offset_delete, groups),
    }
    held = {
        key: ApiPolicy(
            on_request=OnRequest.WHOLE,
            request=handler,
            request_limit=_HELD,
            request_walk=CommitWalk if key in COMMITS else None,
        )
        for key, handler in handlers.items()
    }
    of_newer = dict.fromkeys(map(int, newer_groups.APIS_OF_NEWER), newer_groups.policy(groups))
    return {**held, **of_newer, **_of_administrators(groups)}


def _of_administrators(groups: Hosting) -> Mapping[int, ApiPolicy]:
    """Return the policies of the APIs that name or list many groups."""
    concerns = concerned(groups)
    named = partial(NamedGroups, concerns, MOST_GROUPS)
    return {
        ApiKey.DESCRIBE_GROUPS: policy(
            naming(groups, named, describe_groups.describing),
            named,
            DescribedGroups,
            partial(DescribedGroups, concerns),
        ),
        ApiKey.LIST_GROUPS: policy(
            partial(list_groups.list_groups, groups),
            None,
            ListedGroups,
            partial(ListedGroups, concerns),
            list_groups.REQUEST_LIMIT,
        ),
        ApiKey.DELETE_GROUPS: policy(
            naming(groups, named, delete_groups.deleting), named, DeletedGroups, partial(DeletedGroups, concerns)
        ),
    }
