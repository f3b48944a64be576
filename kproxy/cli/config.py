"""`kproxy config …`: check and print configurations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kproxy.cli.output import REFUSED, help_if_bare, print_table
from kproxy.cli.serve import config_options, load_settings
from kproxy.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kproxy.cluster.preflight import Finding
    from kproxy.config import Config
    from kproxy.config.delivery import ToTopic
    from kproxy.upstream.presented import Presented


@click.group(invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Look at configurations."""
    help_if_bare(context)


@config.command()
@click.argument("file", type=Path)
@click.option(
    "--connect",
    is_flag=True,
    help="Ask every upstream for its nodes, too: has each of them a port? And which certificates are there?",
)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
def check(file: Path, connect: bool, as_json: bool) -> int:
    """Check FILE, with the KPROXY_* variables that are set, and show what would listen where."""
    found = load_settings(file)
    _check_telemetry(found, file)
    _check_kubernetes(found, file)
    hints = _check_certificates(found, file)
    from kproxy.config.plan import notes, plan

    if as_json:
        return _print_check(found, hints, connect)
    head = ("Virtual cluster", "For", "Listens on", "Clients are told", "Backend")
    print_table(
        head, ((line.cluster, line.purpose, line.listens, line.advertised, line.backend) for line in plan(found))
    )
    for note in (*notes(found), *hints):
        click.echo(f"Note: {note}")
    return _check_upstreams(found) if connect else 0


def _check_upstreams(found: Config) -> int:
    """Print a line for each upstream; exit code 1 when one does not answer, or has a node without a port."""
    asked, keys = _checked(found)
    click.echo()
    head = ("Virtual cluster", "Upstream", "Nodes", "Found")
    rows = (
        (one.cluster, one.upstream, " ".join(map(str, one.nodes)), "; ".join(one.problems) or "a port for each")
        for one in asked
    )
    print_table(head, rows)
    for one in asked:
        for server in one.servers:
            _print_presented(one, server)
    for line in keys:
        click.echo(f"\nProblem: {line}")
    return 0 if all(one.is_fit for one in asked) and not keys else REFUSED


def _checked(found: Config) -> tuple[Sequence[Finding], Sequence[str]]:
    import trio

    from kproxy.cluster.preflight import checked

    return trio.run(checked, found)


def _print_presented(one: Finding, server: Presented) -> None:
    """Print what a server has of TLS, and what does not fit."""
    from kproxy.upstream.certificates import when

    said = f"{server.version}, {server.cipher}" if server.version else "no TLS connection"
    click.echo(f"\n{one.cluster}, {one.upstream}, {server.address}: {said}")
    for number, shown in enumerate(server.chain, 1):
        names = f", for {', '.join(shown.names)}" if shown.names else ""
        click.echo(f"  {number}. {shown.subject}{names}")
        click.echo(f"     issued by {shown.issuer}, valid from {when(shown.begins)} to {when(shown.ends)}")
        click.echo(f"     {shown.key} of {shown.key_bits} bits, signed by {shown.signature}")
    for line in server.problems:
        click.echo(f"  Problem: {line}")
    for line in server.notes:
        click.echo(f"  Note: {line}")


def _print_check(found: Config, hints: Sequence[str], connect: bool) -> int:
    """Print the plan, the notes and, if wanted, what was found at the upstreams."""
    import json
    from dataclasses import asdict

    from kproxy.config.plan import notes, plan

    asked, keys = _checked(found) if connect else ((), ())
    said: dict[str, Any] = {"listeners": [asdict(line) for line in plan(found)], "notes": [*notes(found), *hints]}
    if connect:
        said |= {"upstreams": [asdict(one) for one in asked], "problems": keys}
    click.echo(json.dumps(said))
    return 0 if all(one.is_fit for one in asked) and not keys else REFUSED


def _check_telemetry(found: Config, file: Path) -> None:
    """Check regexes, URLs and plug-ins, which the models cannot; raises `ConfigError` where `serve` would."""
    served = [index for index, cluster in enumerate(found.clusters) if cluster.telemetry is not None]
    if not served:
        return
    from kproxy.telemetry.client_telemetry import ClientTelemetry

    for index in served:
        try:
            ClientTelemetry(found.clusters[index].name, index, found, _dials_nobody)
        except ConfigError as error:
            raise ConfigError(f"{file}: {error.key}", error.reason) from error


def _check_kubernetes(found: Config, file: Path) -> None:
    """Look for the service account's files where a ConfigMap is used; raises `ConfigError` where `serve` would."""
    from kproxy.cluster.optional import check_kubernetes

    try:
        for cluster in found.clusters:
            check_kubernetes(cluster)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.key}", error.reason) from error


def _check_certificates(found: Config, file: Path) -> Sequence[str]:
    """Read the files of TLS; return hints about the names in certificates. Raises `ConfigError` where `serve` would."""
    of_clusters = any(
        cluster.tls or cluster.authentication or any(one.tls for one in cluster.backends) for cluster in found.clusters
    )
    of_admin = found.admin is not None and found.admin.tls is not None
    if not of_clusters and not of_admin and not any(topic.tls for _, topic in found.topics_elsewhere):
        return ()
    from kproxy.admin.security import read_admin_security
    from kproxy.cluster.security import name_hints, read_security
    from kproxy.cluster.topic_clients import check_topics

    try:
        check_topics(found)
        read_admin_security(found.admin)
        read = [(cluster, read_security(cluster)) for cluster in found.clusters]
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.key}", error.reason) from error
    return [hint for cluster, security in read for hint in name_hints(cluster, security.validities)]


def _dials_nobody(to: ToTopic) -> NoReturn:
    raise AssertionError(f"a receiver that writes to {to.topic} is checked, not run")


@config.command()
def schema() -> int:
    """Print the JSON Schema of the configuration file, for editors."""
    from kproxy.config.reference import json_schema

    click.echo(json_schema(), nl=False)
    return 0


@config.command()
@config_options
def show(**flags: Any) -> int:
    """Print the configuration in effect, defaults included, as YAML."""
    found = load_settings(**flags)
    import yaml

    click.echo(yaml.safe_dump(found.model_dump(mode="json"), sort_keys=False), nl=False)
    return 0
