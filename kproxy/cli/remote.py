"""Commands to a running kproxy by its admin port: show its virtual clusters and clients, rebootstrap, fail over."""

from __future__ import annotations

from typing import Any

import click

from kproxy.cli.admin_port import AdminPort, admin_options, cluster_path, pages, print_json, software
from kproxy.cli.output import print_table


@click.command()
@admin_options
def clusters(admin: AdminPort, as_json: bool) -> int:
    """Show the virtual clusters: epoch, upstream, nodes, connections."""
    answer = admin.get("/api/v1/clusters")
    if as_json:
        return print_json(answer)
    head = ("Virtual cluster", "Epoch", "Upstream", "Nodes", "Connections")
    print_table(head, [_cluster_row(cluster) for cluster in answer["clusters"]])
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
@admin_options
def failover(admin: AdminPort, as_json: bool, name: str, to: str | None, force: bool) -> int:
    """Switch the virtual cluster NAME to another upstream; its clients are told to bootstrap again.

    Only clients move: records and consumer offsets at the other cluster are what your replication made them. Each
    replica of kproxy is switched for itself.
    """
    done = admin.post(cluster_path(name, "failover"), {"to": to, "force": force})
    return print_json(done) if as_json else _print_result(done)


def _print_changes(done: dict[str, Any]) -> int:
    changed = [*done["process"], *(f"{name}: {key}" for name, keys in done["clusters"].items() for key in keys)]
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
    return 0


def _cluster_row(cluster: dict[str, Any]) -> tuple[str, ...]:
    others = [upstream["name"] for upstream in cluster["upstreams"] if not upstream["active"]]
    unreachable, unmapped = sum(node["reachable"] is False for node in cluster["nodes"]), len(cluster["unmapped"])
    problems = [f"{unreachable} unreachable"] * bool(unreachable) + [f"{unmapped} without a port"] * bool(unmapped)
    return (
        cluster["name"],
        str(cluster["epoch"]),
        cluster["upstream"] + (f" (else {', '.join(others)})" if others else ""),
        str(len(cluster["nodes"]) + unmapped) + (f" ({', '.join(problems)})" if problems else ""),
        str(cluster["connections"]),
    )


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
