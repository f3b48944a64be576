"""Measure what client libraries do about errors, and write docs/error-conformance.md: `make conformance`.

`--only CLIENT` and `--api API` (each may be repeated) measure a part, and leave all other cells as they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from kproxy import __version__
from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.conformance.cases import BEFORE_KIP_890, CASES, ERRORS, Case
from tests.conformance.clients import CLIENTS, Client
from tests.conformance.measure import measured
from tests.conformance.observation import Behaviour, Finding, finding
from tests.conformance.record import KEPT, Column, Record, dumped, loaded
from tests.conformance.table import PAGE, with_tables
from tests.support.backend import Backend

Found = Mapping[Case, Finding]


@click.command()
@click.option("--only", "names", multiple=True, type=click.Choice([one.name for one in CLIENTS]), help="A client.")
@click.option("--api", "apis", multiple=True, type=click.Choice(list(ERRORS)), help="An API.")
def main(names: Sequence[str], apis: Sequence[str]) -> None:
    """Measure, and write the page and its JSON."""
    clients = [one for one in CLIENTS if not names or one.name in names]
    cases = [one for one in CASES if not apis or one.api in apis]
    with tempfile.TemporaryDirectory(prefix="kproxy-conformance-") as directory, Cluster(jars.KAFKA_4_4, (0,)) as kafka:
        found = {one: _kept(one, cases, kafka, Path(directory)) for one in clients}
        unsent = {one: _unsent(cells) for one, cells in found.items()}
        if any(unsent.values()):
            _downgrade(kafka)
        for one, unsent_cases in unsent.items():
            _keep(one, {}, _measured(one, unsent_cases, kafka, Path(directory)))


def _measured(client: Client, cases: Sequence[Case], cluster: Cluster, directory: Path) -> Found:
    """Measure some cells, and tell of each."""
    found = {one.case: finding(one) for one in measured(client, cases, Backend(cluster), directory)} if cases else {}
    for case, one in found.items():
        click.echo(f"{client.label}: {case.api} {case.error}: {one.behaviour.value} {one.error}")
    return found


def _kept(client: Client, cases: Sequence[Case], cluster: Cluster, directory: Path) -> Found:
    """Measure some cells, and keep them at once: a client that fails later takes none of them away."""
    found = _measured(client, cases, cluster, directory)
    _keep(client, found, {})
    return found


def _unsent(cells: Found) -> list[Case]:
    """Return what is measured again with `transaction.version` 1 (KIP-890)."""
    return [case for case, one in cells.items() if case.api in BEFORE_KIP_890 and one.behaviour is Behaviour.NOT_SENT]


def _downgrade(cluster: Cluster) -> None:
    arguments = ("--bootstrap-server", cluster.bootstrap, "downgrade", "--feature", "transaction.version=1")
    cluster.run("org.apache.kafka.tools.FeatureCommand", *arguments)


def _keep(client: Client, found: Found, classic: Found) -> None:
    """Write the page and its JSON with a client's new cells; all others stay."""
    kept = dict(loaded(KEPT.read_text(encoding="utf-8")).columns) if KEPT.exists() else {}
    former = kept.get(client.name, Column("", "", ""))
    today = datetime.now(UTC).date().isoformat()
    about = Column(client.label, client.version(), today, former.found, former.classic)
    kept[client.name] = about.with_found(found, classic)
    ordered = {one.name: kept[one.name] for one in CLIENTS if one.name in kept}
    record = Record(jars.KAFKA_4_4.version, __version__, ordered)
    KEPT.write_text(dumped(record), encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), record), encoding="utf-8")


if __name__ == "__main__":
    main()
