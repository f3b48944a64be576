"""`kproxy telemetry …`: the telemetry subscriptions of a running kproxy, and the clients that push (KIP-714)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kproxy.cli.admin_port import AdminPort, admin_options, cluster_path, clusters_with, pages, print_json, software
from kproxy.cli.output import REFUSED, CliError, help_if_bare, print_table

_optional_cluster = click.option(
    "--cluster", metavar="NAME", help="Of one virtual cluster; otherwise of all with telemetry."
)
_required_cluster = click.option(
    "--cluster", metavar="NAME", required=True, help="The virtual cluster whose clients are meant."
)


@click.group(invoke_without_command=True)
@click.pass_context
def telemetry(context: click.Context) -> None:
    """Look at client telemetry and change what is pushed."""
    help_if_bare(context)


@telemetry.command()
@_optional_cluster
@admin_options
def subscriptions(admin: AdminPort, as_json: bool, cluster: str | None) -> int:
    """Show what clients are to push; those that are fixed stand in the configuration."""
    found = [
        {"cluster": name} | subscription
        for name in _clusters(admin, cluster)
        for subscription in admin.get(cluster_path(name, "telemetry", "subscriptions"))["subscriptions"]
    ]
    if as_json:
        return print_json({"subscriptions": found})
    head = ("Virtual cluster", "Name", "Metrics", "Interval", "Match", "Fixed")
    print_table(head, [_subscription_row(subscription) for subscription in found])
    return 0


@telemetry.command()
@_optional_cluster
@admin_options
def instances(admin: AdminPort, as_json: bool, cluster: str | None) -> int:
    """Show the client instances that asked what to push, or pushed."""
    found = [
        {"cluster": name} | instance
        for name in _clusters(admin, cluster)
        for instance in pages(admin, cluster_path(name, "telemetry", "instances"), "instances")
    ]
    if as_json:
        return print_json({"instances": found})
    head = ("Virtual cluster", "Instance", "Client", "Client id", "Software", "Subscriptions", "Last push", "Pushes")
    print_table((*head, "Bytes", "Last error", "Dropped points"), [_instance_row(instance) for instance in found])
    return 0


@telemetry.command()
@click.argument("name")
@_required_cluster
@click.option("--metrics", required=True, multiple=True, help="Prefixes of names, with commas; * is all. Repeatable.")
@click.option("--interval", help="Between two pushes, as 500ms, 10s, 1m; 5m without it.")
@click.option("--match", multiple=True, metavar="KEY=REGEX", help="Which clients, as client_id=orders-.*. Repeatable.")
@admin_options
def subscribe(
    admin: AdminPort,
    as_json: bool,
    name: str,
    cluster: str,
    metrics: Sequence[str],
    interval: str | None,
    match: Sequence[str],
) -> int:
    """Have clients push metrics: make the subscription NAME, or replace it."""
    fields = {
        "metrics": [prefix.strip() for each in metrics for prefix in each.split(",")],
        "interval_ms": None if interval is None else _milliseconds(interval),
        "match": dict(map(_key_and_regex, match)),
    }
    made = admin.put(cluster_path(cluster, "telemetry", "subscriptions", name), fields)
    line = f"{cluster}: {made['name']}: clients learn of it at their next push"
    return print_json(made) if as_json else _print_line(line)


@telemetry.command()
@click.argument("name")
@_required_cluster
@admin_options
def unsubscribe(admin: AdminPort, as_json: bool, name: str, cluster: str) -> int:
    """Forget the subscription NAME."""
    deleted = admin.delete(cluster_path(cluster, "telemetry", "subscriptions", name))
    return print_json(deleted) if as_json else _print_line(f"{deleted['cluster']}: {deleted['name']}: gone")


def _clusters(admin: AdminPort, wanted: str | None) -> Sequence[str]:
    """The wanted virtual cluster, or all with telemetry; raises `CliError` when none has any."""
    names = clusters_with(admin, "telemetry", wanted)
    if not names:
        raise CliError("kproxy serves no telemetry: its configuration has no `telemetry` block", REFUSED)
    return names


def _milliseconds(interval: str) -> int:
    from kproxy.config.units import parse_seconds

    try:
        return round(float(parse_seconds(interval)) * 1000)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--interval") from None


def _key_and_regex(match: str) -> tuple[str, str]:
    key, equals, regex = match.partition("=")
    if not equals:
        raise click.BadParameter(f"{match!r} is not of the form KEY=REGEX", param_hint="--match")
    return key.strip(), regex


def _print_line(line: str) -> int:
    click.echo(line)
    return 0


def _subscription_row(subscription: dict[str, Any]) -> tuple[str, ...]:
    return (
        subscription["cluster"],
        subscription["name"],
        ", ".join(prefix or "*" for prefix in subscription["metrics"]),
        f"{subscription['interval_ms'] / 1000:g}s",
        ", ".join(f"{key}={regex}" for key, regex in subscription["match"].items()),
        "yes" if subscription["fixed"] else "",
    )


def _instance_row(instance: dict[str, Any]) -> tuple[str, ...]:
    return (
        instance["cluster"],
        instance["id"],
        instance["client"],
        instance["client_id"] or "",
        software(instance),
        ", ".join(instance["subscriptions"]),
        instance["last_push"] or "",
        str(instance["pushes"]),
        str(instance["bytes"]),
        _error(instance),
        f"{instance['dropped_points']}: {instance['dropped_reason']}" if instance["dropped_points"] else "",
    )


def _error(instance: dict[str, Any]) -> str:
    error, reason = instance["last_error"] or "", instance["last_error_reason"]
    return f"{error}: {reason}" if reason else error
