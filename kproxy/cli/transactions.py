"""`kproxy transactions`: which transactional ids are at work through a running kproxy, and how their last one ended."""

from __future__ import annotations

from typing import Any, Final

import click

from kproxy.cli.admin_port import AdminPort, admin_options, pages, print_json
from kproxy.cli.output import print_table

_STATES: Final = ("empty", "begun", "committed", "aborted", "fenced", "timed_out")
_TO_SECONDS: Final = len("2026-01-02T03:04:05")
_HEAD: Final = (
    "Virtual cluster",
    "Transactional id",
    "State",
    "Since",
    "Client",
    "Contents",
    "Last",
    "Committed",
    "Aborted",
    "Last error",
    "Fenced",
)


@click.command()
@click.option("--cluster", metavar="NAME", help="Those of one virtual cluster.")
@click.option("--state", type=click.Choice(_STATES), help="Those in one state; begun are the open transactions.")
@click.option("--fenced", is_flag=True, help="Those of which a producer was fenced.")
@admin_options
def transactions(admin: AdminPort, as_json: bool, cluster: str | None, state: str | None, fenced: bool) -> int:
    """Show the transactional ids at work: whose transaction is open since when, who was fenced, how the last ended."""
    asked = {"cluster": cluster, "state": state, "fenced": "true" if fenced else None}
    found = pages(admin, "/api/v1/transactions", "transactions", **asked)
    if as_json:
        return print_json({"transactions": list(found)})
    print_table(_HEAD, [_row(one) for one in found])
    return 0


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    error = one["last_error"]
    return (
        one["cluster"],
        one["transactional_id"],
        one["state"] if one["ending"] is None else f"{one['state']}, to be {one['ending']}",
        f"{one['since'][:_TO_SECONDS]}Z",
        _client(one),
        _contents(one),
        "" if one["last_result"] is None else f"{one['last_result']} by {one['last_cause']}",
        str(one["committed"]),
        str(one["aborted"]),
        "" if error is None else error["error"],
        _fenced(one),
    )


def _client(one: dict[str, Any]) -> str:
    return f"{one['client_id'] or '(no id)'} at {one['host']}"


def _contents(one: dict[str, Any]) -> str:
    partitions = one["partitions"]
    counted = [] if partitions is None else [f"{partitions} partition{'s' * (partitions != 1)}"]
    return ", ".join(counted + [f"offsets of {group}" for group in one["groups"]])


def _fenced(one: dict[str, Any]) -> str:
    last = one["last_fenced"]
    return "" if last is None else f"{one['fencings']}, last {_client(last)}"
