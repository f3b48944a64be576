# This module is pure (no I/O, no clock).
"""Clients: which software there is, who cannot rebootstrap, who connects again and again."""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.report.charts import categories, over_time
from kproxy.pipeline.report.charts.figure import Figure, Table
from kproxy.pipeline.report.charts.numbers import SECONDS, counted
from kproxy.pipeline.report.charts.over_time import Caption
from kproxy.pipeline.report.charts.scales import Times
from kproxy.pipeline.report.content import Sections
from kproxy.pipeline.report.parts.part import Part, answered, named, table
from kproxy.pipeline.report.sections.churn import SHORT, Churner, Lifetimes
from kproxy.pipeline.report.sections.fleet import UNKNOWN, Version
from kproxy.pipeline.report.sections.rebootstrap import Abilities, Stranded
from kproxy.pipeline.report.sections.shapes import Listing, OverTime
from kproxy.pipeline.report.words import moment, shown

_CLIENTS: Final = counted("clients")


def fleet(sections: Sections, times: Times) -> Part:
    """Return the software by version, over time and in all."""

    def chart(values: OverTime) -> Figure | None:
        note = "A client is a client.id of a virtual cluster; it is there when it is connected or pushes its metrics."
        caption = Caption("fleet-over-time", "Clients by software and version", note, _CLIENTS, whole=True)
        return None if values.empty else over_time.bars(named(values), times, caption)

    nothing = "No client was there in this time."
    versions = answered(sections.versions, _versions, nothing)
    return Part("fleet", "Fleet", (answered(sections.fleet, chart, nothing), *_unless_same(versions, nothing)))


def _unless_same(block: Figure | Table | str, said: str) -> tuple[Figure | Table | str, ...]:
    return () if block == said else (block,)


def _versions(versions: Listing[Version]) -> Table | None:
    head = ("software", "version", "clients", "pushing metrics", "addresses", "last seen (UTC)")
    return table("Software, by how many clients run it", head, versions, _version, 2, 3, 4)


def _version(one: Version) -> tuple[str, ...]:
    software = shown(one.software) if one.software else UNKNOWN
    version = shown(one.version) if one.version else "–"
    return software, version, f"{one.clients:,}", f"{one.pushing:,}", f"{one.addresses:,}", moment(one.last_seen)


def rebootstrap(sections: Sections) -> Part:
    """Return what brings clients back, and who stays away."""

    def chart(abilities: Abilities) -> Figure | None:
        amounts = {
            "when told (KIP-1102)": abilities.told,
            "by itself (KIP-899)": abilities.alone,
            "cannot": abilities.cannot,
            "unknown": abilities.unknown,
        }
        note = "What brings a client back to its bootstrap servers when all brokers that it knows are gone."
        caption = Caption("rebootstrap-abilities", "Clients that can rebootstrap", note, _CLIENTS, whole=True)
        classes = {"by itself (KIP-899)": "s3", "cannot": "bad", "unknown": "rest"}
        return categories.bars(amounts, classes, "how", caption) if any(amounts.values()) else None

    def stranded(listing: Listing[Stranded]) -> Table | None:
        head = ("client.id", "software", "addresses", "cluster", "last seen (UTC)")
        return table("Clients that stay away until they are restarted", head, listing, _stranded, 2)

    return Part(
        "rebootstrap",
        "Who cannot rebootstrap",
        (
            answered(sections.abilities, chart, "No client was there in this time."),
            answered(sections.cannot_rebootstrap, stranded, "There is no client of which it is known that it cannot."),
        ),
    )


def _stranded(one: Stranded) -> tuple[str, ...]:
    software = f"{one.software or UNKNOWN} {one.version or ''}".strip()
    return shown(one.client_id), shown(software), f"{one.addresses:,}", shown(one.cluster), moment(one.last_seen)


def churn(sections: Sections) -> Part:
    """Return how long connections last, and who makes short ones."""

    def chart(lifetimes: Lifetimes) -> Figure | str | None:
        if not lifetimes.opened + lifetimes.ended + lifetimes.open:
            return None
        said = (
            f"{lifetimes.opened:,} connections opened and {lifetimes.ended:,} ended in this time; {lifetimes.open:,} "
        )
        said += "were open at its end."
        unit = counted("connections")
        caption = Caption("churn-lifetimes", "How long connections lasted that ended", said, unit, whole=True)
        return categories.bars(lifetimes.by_lifetime, {}, "lasted", caption) if lifetimes.ended else said

    def churners(listing: Listing[Churner]) -> Table | None:
        head = ("client.id", f"below {SHORT} s", "opened", "median", "most ended by", "cluster")
        return table(f"Clients by connections of less than {SHORT} s", head, listing, _churner, 1, 2, 3)

    return Part(
        "churn",
        "Connection churn",
        (
            answered(sections.lifetimes, chart, "There was no connection in this time."),
            answered(sections.churners, churners, f"No connection ended in less than {SHORT} s."),
        ),
    )


def _churner(one: Churner) -> tuple[str, ...]:
    median = "–" if one.median_seconds is None else SECONDS.text(one.median_seconds)
    counts = (f"{one.short:,}", f"{one.opened:,}", median)
    return shown(one.client_id), *counts, shown(one.mostly), shown(one.cluster)
