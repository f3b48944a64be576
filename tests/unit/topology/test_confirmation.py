"""Which changes are believed at once, which after a second poll, and which are news."""

from __future__ import annotations

import pytest

from kproxy.topology.confirmation import CALM, Confirmation
from kproxy.topology.snapshot import Replacement

OTHER, REPLACED = Replacement.CLUSTER_CHANGED, Replacement.ALL_NODES_REPLACED


def test_what_sends_nobody_away_is_believed_at_once() -> None:
    """A node that is added or moved needs no confirmation."""
    doubt = Confirmation()
    assert doubt.accepts(None, "x")
    assert (doubt.pending, doubt.cluster_id, doubt.is_news) == (None, None, False)


@pytest.mark.parametrize(("cause", "cluster_id", "shown"), [(OTHER, "y", "y"), (REPLACED, "x", None)])
def test_what_would_send_all_away_is_believed_the_second_time(
    cause: Replacement, cluster_id: str | None, shown: str | None
) -> None:
    """Two polls in a row must show the same; only another cluster's id is asked for."""
    doubt = Confirmation()
    assert not doubt.accepts(cause, cluster_id)
    assert (doubt.pending, doubt.cluster_id, doubt.is_news) == ((cause, cluster_id), shown, True)
    assert doubt.accepts(cause, cluster_id)
    assert (doubt.pending, doubt.cluster_id) == (None, None)


def test_a_moment_is_not_believed() -> None:
    """The old cluster in between ends the doubt."""
    doubt = Confirmation()
    assert [doubt.accepts(*seen) for seen in [(OTHER, "y"), (None, "x"), (OTHER, "y")]] == [False, True, False]


@pytest.mark.parametrize("second", [(OTHER, "z"), (REPLACED, "y")])
def test_another_doubt_confirms_nothing(second: tuple[Replacement, str]) -> None:
    """A third cluster, or another cause, must be confirmed anew."""
    doubt = Confirmation()
    assert not doubt.accepts(OTHER, "y")
    assert not doubt.accepts(*second)
    assert doubt.accepts(*second)


def test_flapping_is_news_once() -> None:
    """This holds between two clusters and among many; after a calm it is news again."""
    doubt = Confirmation()
    news = []
    for seen in [(OTHER, "y"), (None, "x"), (OTHER, "y"), (OTHER, "z"), (None, "x"), (OTHER, "y")]:
        if not doubt.accepts(*seen):
            news.append(doubt.is_news)
    assert news == [True, False, False, False]
    for _ in range(CALM):
        doubt.accepts(None, "x")
    assert not doubt.accepts(OTHER, "y")
    assert doubt.is_news


def test_the_next_change_after_one_that_was_believed_is_news() -> None:
    """The new cluster's first doubt is reported as the old one's was."""
    doubt = Confirmation()
    doubt.accepts(OTHER, "y")
    doubt.accepts(OTHER, "y")
    assert not doubt.accepts(OTHER, "x")
    assert doubt.is_news
