"""`kproxy groups …`: the consumer groups that a running kproxy hosts, and their members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kproxy.cli.admin_port import AdminPort, admin_options, cluster_path, clusters_with, pages, print_json
from kproxy.cli.output import REFUSED, CliError, help_if_bare, print_table

_optional_cluster = click.option("--cluster", metavar="NAME", help="Of one virtual cluster; otherwise of all.")
_group_of = click.option(
    "--cluster", metavar="NAME", help="The virtual cluster; needed where several host a group of that id."
)
_Found = dict[str, Any]


@click.group(invoke_without_command=True)
@click.pass_context
def groups(context: click.Context) -> None:
    """Look at the consumer groups that kproxy hosts."""
    help_if_bare(context)


@groups.command("list")
@_optional_cluster
@admin_options
def list_groups(admin: AdminPort, as_json: bool, cluster: str | None) -> int:
    """Show all hosted groups with their state."""
    found = [
        {"cluster": name} | group
        for name in clusters_with(admin, "hosts_groups", cluster)
        for group in pages(admin, cluster_path(name, "groups"), "groups")
    ]
    if as_json:
        return print_json({"groups": found})
    head = ("Virtual cluster", "Group", "State", "Generation", "Protocol", "Members", "In state")
    print_table(head, [_group_row(group) for group in found])
    return 0


@groups.command()
@click.argument("group")
@_group_of
@admin_options
def describe(admin: AdminPort, as_json: bool, group: str, cluster: str | None) -> int:
    """Show a hosted group with its members and what each is assigned."""
    name = _home(admin, group, cluster)
    found = {"cluster": name} | admin.get(cluster_path(name, "groups", group))
    members = _members(admin, name, group)
    if as_json:
        return print_json(found | {"members": members})
    for label, value in _facts(found):
        click.echo(f"{label + ':':<17}{value}")
    click.echo()
    _print_members(members)
    return 0


@groups.command()
@click.argument("group")
@_group_of
@admin_options
def members(admin: AdminPort, as_json: bool, group: str, cluster: str | None) -> int:
    """Show the members of a hosted group."""
    found = _members(admin, _home(admin, group, cluster), group)
    if as_json:
        return print_json({"members": found})
    _print_members(found)
    return 0


@groups.command()
@click.argument("group")
@_group_of
@admin_options
def lag(admin: AdminPort, as_json: bool, group: str, cluster: str | None) -> int:
    """Show how many records of each partition a hosted group has not committed.

    kproxy asks the brokers for the offsets, as its `identity` where it has one.
    """
    found = admin.get(cluster_path(_home(admin, group, cluster), "groups", group, "lag"))
    if as_json:
        return print_json(found)
    partitions = found["partitions"]
    print_table(
        ("Topic", "Partition", "Committed", "End", "Lag", "Client id", "Host", "Error"),
        [_lag_row(partition) for partition in partitions],
    )
    click.echo()
    click.echo(_total(partitions))
    return 0


def _members(admin: AdminPort, cluster: str, group: str) -> list[_Found]:
    return list(pages(admin, cluster_path(cluster, "groups", group, "members"), "members"))


def _home(admin: AdminPort, group: str, wanted: str | None) -> str:
    """Return the virtual cluster of a group; raise `CliError` where it is not one.

    Where only one hosts groups, it is that one: a group without members may have offsets all the same.
    """
    if wanted is not None:
        return wanted
    hosting = clusters_with(admin, "hosts_groups", None)
    found = hosting if len(hosting) == 1 else [name for name in hosting if _has(admin, name, group)]
    if len(found) == 1:
        return found[0]
    which = f"{', '.join(found)} have one: say which (--cluster)" if found else "`kproxy groups list` shows them all"
    raise CliError(f"{'several groups' if found else 'no hosted group'} {group!r}: {which}", REFUSED)


def _has(admin: AdminPort, cluster: str, group: str) -> bool:
    try:
        admin.get(cluster_path(cluster, "groups", group))
    except CliError as error:
        if error.code == REFUSED:
            return False
        raise
    return True


def _group_row(group: _Found) -> tuple[str, ...]:
    return (
        group["cluster"],
        group["group"],
        group["state"],
        str(group["generation"]),
        _protocol(group),
        str(group["members"]),
        f"{group['in_state_seconds']:.0f}s",
    )


def _facts(group: _Found) -> Sequence[tuple[str, str]]:
    return (
        ("Virtual cluster", group["cluster"]),
        ("Group", group["group"]),
        ("State", f"{group['state']}, for {group['in_state_seconds']:.0f}s"),
        ("Generation", str(group["generation"])),
        ("Protocol", _protocol(group)),
        ("Members", str(group["members"])),
    )


def _protocol(group: _Found) -> str:
    return " ".join(part for part in (group["protocol_type"], group["protocol"]) if part) or "-"


def _print_members(found: Sequence[_Found]) -> None:
    head = ("Client id", "Host", "Member", "Instance", "Leader", "Waits in", "Session ends", "Assignment")
    print_table(head, [_member_row(member) for member in found])


def _member_row(member: _Found) -> tuple[str, ...]:
    ends = member["session_ends"]
    return (
        member["client_id"],
        member["host"],
        member["member"],
        member["instance"] or "-",
        "leader" if member["leader"] else "-",
        member["waits"] or "-",
        "-" if ends is None else f"{ends:.0f}s",
        _assignment(member),
    )


def _lag_row(partition: _Found) -> tuple[str, ...]:
    shown = ("topic", "partition", "committed", "end", "lag", "client_id", "host", "error")
    return tuple("-" if partition[name] is None else str(partition[name]) for name in shown)


def _total(partitions: Sequence[_Found]) -> str:
    known = [partition["lag"] for partition in partitions if partition["lag"] is not None]
    unknown = len(partitions) - len(known)
    return f"{sum(known)} records behind" + (f"; unknown for {unknown} of {len(partitions)} partitions" * bool(unknown))


def _assignment(member: _Found) -> str:
    by_topic = member["assignment"]
    if by_topic is None:
        return f"{member['assignment_bytes']} bytes"
    return " ".join(f"{topic}:{','.join(map(str, some))}" for topic, some in sorted(by_topic.items())) or "-"
