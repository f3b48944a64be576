"""Commands for a kproxy that runs: what it serves, who its clients are, and orders to it, by its admin port."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final

import click

from kproxy import __version__
from kproxy.cli.asking import VARIABLE, AdminPort
from kproxy.cli.codes import USAGE, CommandError
from kproxy.cli.table import print_table

_DEFAULT: Final = "http://127.0.0.1:9190"
_PAGE: Final = "1000"


def _remote(command: Callable[..., int]) -> Callable[..., int]:
    """The flags of all of them; the command gets `admin`, the URL, and `as_json`."""

    @wraps(command)
    def understood(admin: str, **options: Any) -> int:
        try:
            return command(admin=admin, **options)
        except (KeyError, TypeError) as error:
            line = f"{admin}: kproxy {__version__} does not understand the answer ({error!r}): another version?"
            raise CommandError(line, USAGE) from error

    options = (
        click.option("--admin", default=_DEFAULT, envvar=VARIABLE, help=f"URL of the admin port. [{VARIABLE}]"),
        click.option("--json", "as_json", is_flag=True, help="Print what the API answers."),
    )
    for option in reversed(options):
        understood = option(understood)
    return understood


@click.command()
@_remote
def clusters(admin: str, as_json: bool) -> int:
    """Show the virtual clusters: epoch, upstream, nodes, connections."""
    said = AdminPort(admin).get("/api/v1/clusters")
    if as_json:
        return _print_json(said)
    head = ("Virtual cluster", "Epoch", "Upstream", "Nodes", "Connections")
    print_table(head, [_of_cluster(cluster) for cluster in said["clusters"]])
    return 0


@click.command()
@click.option("--cluster", metavar="NAME", help="Those of one virtual cluster.")
@click.option("--unable", is_flag=True, help="Those that only a restart brings back when their cluster is gone.")
@_remote
def clients(admin: str, as_json: bool, cluster: str | None, unable: bool) -> int:
    """Show who is connected, and what would bring each back to its bootstrap servers: 129, KIP-899, or nothing."""
    found = _pages(AdminPort(admin), cluster, "no" if unable else None)
    if as_json:
        return _print_json({"clients": list(found)})
    head = ("Virtual cluster", "Host", "Client id", "Software", "Connections", "Since", "Metadata", "Rebootstrap")
    print_table(head, [_of_client(client) for client in found])
    return 0


@click.command()
@click.argument("name")
@_remote
def rebootstrap(admin: str, as_json: bool, name: str) -> int:
    """Tell all clients of the virtual cluster NAME to bootstrap again."""
    told = AdminPort(admin).post(_order(name, "rebootstrap"), {})
    return _print_json(told) if as_json else _print_told(told)


@click.command()
@click.argument("name")
@click.option("--to", metavar="UPSTREAM", help="Its name; without it the next in order.")
@click.option("--force", is_flag=True, help="Even when it does not answer.")
@_remote
def failover(admin: str, as_json: bool, name: str, to: str | None, force: bool) -> int:
    """Switch the virtual cluster NAME to another upstream; its clients are told to bootstrap again.

    Only clients move: records and consumer offsets at the other cluster are what your replication made them. Each
    replica of kproxy is switched for itself.
    """
    told = AdminPort(admin).post(_order(name, "failover"), {"to": to, "force": force})
    return _print_json(told) if as_json else _print_told(told)


def _order(name: str, action: str) -> str:
    from urllib.parse import quote

    return f"/api/v1/clusters/{quote(name, safe='')}/{action}"


def _pages(port: AdminPort, cluster: str | None, rebootstrap: str | None) -> Iterator[dict[str, Any]]:
    after = None
    while True:
        page = port.get("/api/v1/clients", cluster=cluster, rebootstrap=rebootstrap, limit=_PAGE, after=after)
        yield from page["clients"]
        after = page["next"]
        if after is None:
            return


def _print_json(said: Any) -> int:
    click.echo(json.dumps(said))
    return 0


def _print_told(told: dict[str, Any]) -> int:
    upstream = f"upstream {told['upstream']}, " if "upstream" in told else ""
    count = told["connections"]
    click.echo(
        f"{told['cluster']}: {upstream}epoch {told['epoch']}; {count} connection{'s' * (count != 1)} told or closed"
    )
    return 0


def _of_cluster(cluster: dict[str, Any]) -> tuple[str, ...]:
    others = [upstream["name"] for upstream in cluster["upstreams"] if not upstream["active"]]
    unreachable = sum(node["reachable"] is False for node in cluster["nodes"])
    return (
        cluster["name"],
        str(cluster["epoch"]),
        cluster["upstream"] + (f" (else {', '.join(others)})" if others else ""),
        str(len(cluster["nodes"])) + (f" ({unreachable} unreachable)" if unreachable else ""),
        str(cluster["connections"]),
    )


def _of_client(client: dict[str, Any]) -> tuple[str, ...]:
    return (
        client["cluster"],
        client["host"],
        client["client_id"] or "",
        " ".join(filter(None, (client["software_name"], client["software_version"]))),
        str(client["connections"]),
        client["since"],
        "" if client["metadata_version"] is None else f"v{client['metadata_version']}",
        client["rebootstrap"],
    )
