"""`kproxy faults …`: the faults that a running kproxy injects, for tests of applications."""

from __future__ import annotations

from typing import Any

import click

from kproxy.cli.admin_port import AdminPort, admin_options, cluster_path, clusters_with, print_json
from kproxy.cli.output import REFUSED, CliError, help_if_bare, print_table

_the_cluster = click.option("--cluster", metavar="NAME", help="The virtual cluster, where several have faults enabled.")


@click.group(invoke_without_command=True)
@click.pass_context
def faults(context: click.Context) -> None:
    """Inject faults into what applications under test get: never in production."""
    help_if_bare(context)


@faults.command("list")
@click.option("--cluster", metavar="NAME", help="Of one virtual cluster; otherwise of all with faults enabled.")
@admin_options
def list_(admin: AdminPort, as_json: bool, cluster: str | None) -> int:
    """Show the rules, and how many requests each has hit; those that are fixed stand in the configuration."""
    found = [
        {"cluster": name} | rule
        for name in _enabled(admin, cluster)
        for rule in admin.get(cluster_path(name, "faults"))["faults"]
    ]
    if as_json:
        return print_json({"faults": found})
    head = ("Virtual cluster", "Rule", "API", "Fault", "Clients", "Rate", "Hits", "Ends in", "Fixed")
    print_table(head, [_row(rule) for rule in found])
    return 0


@faults.command()
@_the_cluster
@click.option("--api", required=True, help="Whose requests are hit, as Produce.")
@click.option("--client-id", metavar="REGEX", help="Clients whose whole client.id matches; all without it.")
@click.option("--software", metavar="REGEX", help="Clients whose whole software matches, as 'librdkafka .*'.")
@click.option("--error", metavar="NAME", help="kproxy answers with this error, as NOT_LEADER_OR_FOLLOWER.")
@click.option("--delay", metavar="TIME", help="The request is held for so long, as 500ms, then goes on.")
@click.option("--close", is_flag=True, help="The connection ends.")
@click.option("--half", metavar="NAME", help="Half of the answer with this error, then the connection ends.")
@click.option("--rate", type=float, default=1.0, help="The share of requests that are hit, by chance; 1 is all.")
@click.option("--count", type=int, metavar="N", help="The most requests that are hit.")
@click.option("--for", "duration", metavar="TIME", help="Until then, as 5m; without it until it is removed.")
@admin_options
def add(
    admin: AdminPort,
    as_json: bool,
    cluster: str | None,
    delay: str | None,
    duration: str | None,
    **fields: str | float | bool | None,
) -> int:
    """Add a rule: exactly one of --error, --delay, --close and --half."""
    times = {"delay": _seconds(delay, "--delay"), "duration": _seconds(duration, "--for")}
    name = _the_one(admin, cluster)
    made = admin.post(cluster_path(name, "faults"), fields | times)
    return print_json(made) if as_json else _print_line(f"{name}: rule {made['id']}: {_fault(made)} of {made['api']}")


@faults.command()
@_the_cluster
@click.argument("rule", type=click.IntRange(min=1), required=False)
@click.option("--all", "every", is_flag=True, help="All rules that do not stand in the configuration.")
@admin_options
def remove(admin: AdminPort, as_json: bool, cluster: str | None, rule: int | None, every: bool) -> int:
    """Remove the rule of this number."""
    if every is (rule is not None):
        raise click.UsageError("give the number of a rule, or --all")
    name = _the_one(admin, cluster)
    gone = admin.delete(cluster_path(name, "faults", *(() if rule is None else (str(rule),))))
    count = gone["removed"]
    return print_json(gone) if as_json else _print_line(f"{name}: {count} rule{'s' * (count != 1)} removed")


def _enabled(admin: AdminPort, wanted: str | None) -> list[str]:
    """The wanted virtual cluster, or all with faults enabled; raises `CliError` when none has."""
    names = list(clusters_with(admin, "faults", wanted))
    if not names:
        raise CliError("no virtual cluster has faults enabled: faults.enabled in its configuration", REFUSED)
    return names


def _the_one(admin: AdminPort, wanted: str | None) -> str:
    names = _enabled(admin, wanted)
    if len(names) > 1:
        raise click.UsageError(f"several virtual clusters have faults enabled: give --cluster: {', '.join(names)}")
    return names[0]


def _seconds(text: str | None, flag: str) -> float | None:
    from kproxy.config.units import parse_seconds

    try:
        return None if text is None else float(parse_seconds(text))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=flag) from None


def _print_line(line: str) -> int:
    click.echo(line)
    return 0


def _fault(rule: dict[str, Any]) -> str:
    if rule["delay"] is not None:
        return f"delay of {rule['delay']:g} s"
    if rule["close"]:
        return "close"
    return str(rule["error"]) if rule["half"] is None else f"half of {rule['half']}"


def _row(rule: dict[str, Any]) -> tuple[str, ...]:
    clients = [f"{key}={rule[key]}" for key in ("client_id", "software") if rule[key] is not None]
    return (
        rule["cluster"],
        str(rule["id"]),
        rule["api"],
        _fault(rule),
        ", ".join(clients) or "all",
        f"{rule['rate']:g}",
        str(rule["hits"]) if rule["count"] is None else f"{rule['hits']} of {rule['count']}",
        "" if rule["seconds"] is None else f"{rule['seconds']:.0f} s",
        "yes" if rule["fixed"] else "",
    )
