"""Commands to a running kproxy by its admin port: show its virtual clusters and clients, rebootstrap, fail over."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, Final

import click

from kproxy.cli.admin_port import AdminPort, admin_options, cluster_path, pages, print_json, software
from kproxy.cli.arrivals import Arrivals
from kproxy.cli.output import REFUSED, CliError, fail, print_table
from kproxy.observe.masking import printable

_LOOK_AGAIN: Final = 0.5
"""Seconds between two looks at who has come back."""


@click.command()
@admin_options
def clusters(admin: AdminPort, as_json: bool) -> int:
    """Show the virtual clusters: epoch, upstream, nodes, connections."""
    answer = admin.get("/api/v1/clusters")
    if as_json:
        return print_json(answer)
    head = ("Virtual cluster", "Epoch", "Upstream", "Nodes", "Connections")
    print_table(head, [_cluster_row(cluster) for cluster in answer["clusters"]])
    for cluster in answer["clusters"]:
        for upstream in cluster["upstreams"]:
            for warning in upstream["warnings"]:
                click.echo(f"Warning: {cluster['name']}: the standby {upstream['name']}: {warning}")
        for problem in _disagreements(cluster):
            click.echo(f"Warning: {cluster['name']}: {problem}")
    return 0


@click.command()
@click.option("--cluster", metavar="NAME", help="Those of one virtual cluster.")
@click.option("--unable", is_flag=True, help="Those that only a restart brings back when their cluster is gone.")
@admin_options
def clients(admin: AdminPort, as_json: bool, cluster: str | None, unable: bool) -> int:
    """Show who is connected, and what would bring each back to its bootstrap servers: 129, KIP-899, or nothing."""
    found = pages(admin, "/api/v1/clients", "clients", cluster=cluster, rebootstrap="no" if unable else None)
    if as_json:
        return print_json({"clients": list(found)})
    listed = list(found)
    known = any(client["principal"] for client in listed)
    identity = ("Virtual cluster", "Host", "Client id", *(("Principal",) if known else ()))
    head = (*identity, "Software", "Connections", "Since", "Metadata", "Rebootstrap")
    print_table(head, [_client_row(client, known) for client in listed])
    return 0


@click.command()
@admin_options
def reload(admin: AdminPort, as_json: bool) -> int:
    """Have kproxy read its configuration again and apply it, as at SIGHUP; show what changed.

    When something in it is wrong, or cannot change while kproxy runs, nothing changes.
    """
    done = admin.post("/api/v1/reload", {})
    return print_json(done) if as_json else _print_changes(done)


@click.command()
@click.argument("name")
@admin_options
def rebootstrap(admin: AdminPort, as_json: bool, name: str) -> int:
    """Tell all clients of the virtual cluster NAME to bootstrap again."""
    done = admin.post(cluster_path(name, "rebootstrap"), {})
    return print_json(done) if as_json else _print_result(done)


@click.command()
@click.argument("name")
@click.option("--to", metavar="UPSTREAM", help="Its name; without it the next in order.")
@click.option("--force", is_flag=True, help="Even when it does not answer, or some of its nodes have no port.")
@click.option("--dry-run", is_flag=True, help="Switch nothing; show what stands against it.")
@click.option(
    "--wait",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="Then show how clients come back, until all are there, or for so long.",
)
@admin_options
def failover(
    admin: AdminPort, as_json: bool, name: str, to: str | None, force: bool, dry_run: bool, wait: float | None
) -> int:
    """Switch the virtual cluster NAME to another upstream; its clients are told to bootstrap again.

    Only clients move: records and consumer offsets at the other cluster are what your replication made them. Each
    replica of kproxy is switched for itself.
    """
    if dry_run:
        found = admin.post(cluster_path(name, "failover"), {"to": to, "dry_run": True})
        print_json(found) if as_json else _print_rehearsal(found)
        return REFUSED if found["refused"] else 0
    before = None if wait is None else _arrivals(admin, name)
    done = admin.post(cluster_path(name, "failover"), {"to": to, "force": force})
    if wait is None:
        return print_json(done) if as_json else _print_result(done)
    if not as_json:
        _print_result(done)
    if before is None:
        return print_json({**done, "missing": None}) if as_json else 0
    _await(admin, done, before, wait, quiet=as_json)
    if as_json:
        print_json({**done, "missing": before.missing})
    else:
        for client in before.missing:
            who = printable(client["client_id"] or "a client without an id")
            click.echo(f"Not back: {who} at {client['host']}")
    return REFUSED if before.missing else 0


def _arrivals(admin: AdminPort, cluster: str) -> Arrivals | None:
    """Return those who are to come back; None where they cannot be listed, for which no switch waits."""
    try:
        return Arrivals(_clients(admin, cluster))
    except CliError as error:
        fail(f"Warning: who is connected cannot be listed, so nobody is waited for: {error}")
        return None


def _clients(admin: AdminPort, cluster: str) -> Iterator[dict[str, Any]]:
    return pages(admin, "/api/v1/clients", "clients", cluster=cluster)


def _await(admin: AdminPort, done: dict[str, Any], arrivals: Arrivals, seconds: float, *, quiet: bool) -> None:
    """Show who comes back until all are there, or so many seconds are over. A look that fails is not the last one."""
    at: str | None = None
    began, shown, failed = time.monotonic(), "", False
    while True:
        try:
            at = _switched_at(admin, done) if at is None else at
            arrivals.see(list(_clients(admin, done["cluster"])), at)
        except CliError as error:
            if not failed:
                fail(f"Warning: {error}; the switch is made, and who comes back is looked at again")
            failed = True
        waited = time.monotonic() - began
        if arrivals.said != shown and not quiet:
            shown = arrivals.said
            click.echo(f"{waited:4.0f} s: {shown}")
        if not arrivals.missing or waited >= seconds:
            return
        threading.Event().wait(min(_LOOK_AGAIN, seconds - waited))


def _switched_at(admin: AdminPort, done: dict[str, Any]) -> str:
    events = admin.get(cluster_path(done["cluster"], "events"))["events"]
    (at,) = [one["at"] for one in events if one["fields"].get("epoch") == done["epoch"]][-1:] or [""]
    return str(at)


def _print_rehearsal(found: dict[str, Any]) -> None:
    verdict = "would be refused without --force" if found["refused"] else "would be made"
    click.echo(f"{found['cluster']}: a failover to {found['upstream']} {verdict}. Nothing has changed.")
    for one in found["findings"]:
        click.echo(f"{one['weight'].capitalize()}: {one['about']}: {one['detail']}")


def _print_changes(done: dict[str, Any]) -> int:
    moves = [f"{name}: {move}" for move in ("added", "removed") for name in done[move]]
    changed = [*moves, *done["process"], *(f"{name}: {key}" for name, keys in done["clusters"].items() for key in keys)]
    click.echo("\n".join(changed) or "No setting has changed. The files of TLS were read again.")
    return 0


def _print_result(done: dict[str, Any]) -> int:
    upstream = f"upstream {done['upstream']}, " if "upstream" in done else ""
    count = done["connections"]
    click.echo(
        f"{done['cluster']}: {upstream}epoch {done['epoch']}; {count} connection{'s' * (count != 1)} told or closed"
    )
    for node in done.get("unmapped", ()):  # rebootstrap answers without them
        click.echo(f"Warning: node {node['node_id']} has no port: {node['reason']}")
    if why := done.get("unkept"):
        click.echo(f"Warning: a restart of kproxy would begin at the upstream of before: {why}")
    return 0


def _cluster_row(cluster: dict[str, Any]) -> tuple[str, ...]:
    others = [_standby(upstream) for upstream in cluster["upstreams"] if not upstream["active"]]
    unreachable, unmapped = sum(node["reachable"] is False for node in cluster["nodes"]), len(cluster["unmapped"])
    problems = [f"{unreachable} unreachable"] * bool(unreachable) + [f"{unmapped} without a port"] * bool(unmapped)
    return (
        cluster["name"],
        str(cluster["epoch"]),
        cluster["upstream"] + (f" (else {', '.join(others)})" if others else ""),
        str(len(cluster["nodes"]) + unmapped) + (f" ({', '.join(problems)})" if problems else ""),
        str(cluster["connections"]),
    )


def _disagreements(cluster: dict[str, Any]) -> Iterator[str]:
    """Yield why this replica may be elsewhere than the others."""
    agreement = cluster["agreement"]
    if agreement is not None:
        if agreement["pending"]:
            yield f"order {agreement['order']}, to be at {agreement['upstream']}, is not in force at this replica yet"
        for place in agreement["places"]:
            if not place["readable"]:
                yield f"orders cannot be read at {place['name']}: {place['error'] or 'not read yet'}"


def _standby(upstream: dict[str, Any]) -> str:
    return f"{upstream['name']}: unfit" if upstream["fit"] is False else str(upstream["name"])


def _client_row(client: dict[str, Any], principals: bool) -> tuple[str, ...]:
    return (
        client["cluster"],
        client["host"],
        client["client_id"] or "",
        *((client["principal"] or "",) if principals else ()),
        software(client),
        str(client["connections"]),
        client["since"],
        "" if client["metadata_version"] is None else f"v{client['metadata_version']}",
        client["rebootstrap"],
    )
