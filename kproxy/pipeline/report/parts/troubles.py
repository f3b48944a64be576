# This module is pure (no I/O, no clock).
"""Rebalances of groups, and errors that clients got."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kproxy.pipeline.report.charts import lanes, over_time
from kproxy.pipeline.report.charts.figure import REST, Figure, Table, colour
from kproxy.pipeline.report.charts.lanes import Bar
from kproxy.pipeline.report.charts.numbers import SECONDS, counted
from kproxy.pipeline.report.charts.over_time import Caption
from kproxy.pipeline.report.charts.scales import Times
from kproxy.pipeline.report.content import Sections
from kproxy.pipeline.report.parts.part import Part, answered, clock, named, table
from kproxy.pipeline.report.sections.errors import Error
from kproxy.pipeline.report.sections.rebalances import Group, Spell
from kproxy.pipeline.report.sections.shapes import SERIES, Listing, OverTime, Unanswered
from kproxy.pipeline.report.words import isolated, moment, shown

_OTHER: Final = "other causes"


def rebalances(sections: Sections, times: Times) -> Part:
    """Return a lane for each group that rebalanced most."""
    nothing = "No group that kproxy hosts began a rebalance in this time."

    def chart(groups: Listing[Group]) -> Figure | Table | str | None:
        if isinstance(sections.rebalances, Unanswered):
            return f"{shown(sections.rebalances.reason, 300)}."
        return _lanes(groups, sections.rebalances, times) if groups.rows else None

    return Part("rebalances", "Rebalances", (answered(sections.groups, chart, nothing),))


def _lanes(groups: Listing[Group], spells: Sequence[Spell], times: Times) -> Figure | None:
    lane = {(one.cluster, one.group): number for number, one in enumerate(groups.rows)}
    causes = Counter(shown(one.cause) for one in spells)
    most = [cause for cause, _ in causes.most_common(SERIES)]
    classes = {cause: colour(number) for number, cause in enumerate(most)}
    if len(causes) > SERIES:
        classes[_OTHER] = REST
    bars = [
        _bar(one, lane[one.cluster, one.group], classes, times) for one in spells if (one.cluster, one.group) in lane
    ]
    more = f" {groups.more:,} more groups rebalanced less often." if groups.more else ""
    note = f"A bar is the time that rebalances took; those that followed closely share one.{more}"
    caption = Caption("rebalances-by-group", "Rebalances by group", note, SECONDS)
    return lanes.lanes([_label(one) for one in groups.rows], bars, classes, times, caption, _groups(groups))


def _label(one: Group) -> str:
    times = "1 rebalance" if one.rebalances == 1 else f"{one.rebalances:,} rebalances"
    return f"{isolated(shown(one.group))}: {times}, {SECONDS.text(one.seconds)}"


def _bar(one: Spell, lane: int, classes: dict[str, str], times: Times) -> Bar:
    cause = shown(one.cause)
    until = "not ended" if one.ended is None else f"until {one.ended:%H:%M:%S}"
    longest = "" if one.longest is None else f", the longest took {SECONDS.text(one.longest)}"
    said = f"{isolated(shown(one.group))}: {one.rebalances:,} from {clock(one.began)}, {until}, mostly {cause}{longest}"
    return Bar(lane, one.began, one.ended or times.until, classes.get(cause, REST), said)


def _groups(groups: Listing[Group]) -> Table:
    head = ("group", "rebalances", "took", "longest", "not ended", "mostly for", "by", "last to join", "cluster")
    made = table("Rebalances by group: data", head, groups, _group, 1, 2, 3, 4)
    assert made is not None
    return made


def _group(one: Group) -> tuple[str, ...]:
    longest = "–" if one.longest is None else SECONDS.text(one.longest)
    counts = (f"{one.rebalances:,}", SECONDS.text(one.seconds), longest, f"{one.unended:,}")
    return shown(one.group), *counts, *map(shown, (one.cause, one.client_id, one.late, one.cluster))


def errors(sections: Sections, times: Times) -> Part:
    """Return errors by class over time, and the most frequent ones."""

    def chart(values: OverTime) -> Figure | None:
        note = "Errors that clients do not just repeat; their class (KIP-1050) says what a client does about them."
        caption = Caption("errors-by-class", "Errors by class", note, counted("errors"), whole=True)
        return None if values.empty else over_time.bars(named(values), times, caption)

    def most(listing: Listing[Error]) -> Table | None:
        head = ("error", "errors", "clients", "API", "class", "most by", "last (UTC)")
        return table("Most frequent errors", head, listing, _error, 1, 2)

    nothing = "No client got an error that it does not just repeat."
    blocks = (answered(sections.errors, chart, nothing), answered(sections.most_errors, most, nothing))
    return Part("errors", "Errors", tuple(dict.fromkeys(blocks)))


def _error(one: Error) -> tuple[str, ...]:
    names = map(shown, (one.api, one.error_class, one.mostly))
    return shown(one.error), f"{one.errors:,}", f"{one.clients:,}", *names, moment(one.last_at)
