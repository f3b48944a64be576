"""Boards of a run at its start and at its end."""

from __future__ import annotations

from typing import Any

from kproxy.demo.board import Board
from kproxy.demo.pace import Pace
from kproxy.demo.scrape import Scrape

OWN = {1: "127.0.0.1:9001", 2: "127.0.0.1:9002"}
TOLD = {1: "127.0.0.1:7001", 2: "127.0.0.1:7002"}
NODES = [{"node_id": node, "advertised": TOLD[node], "upstream": OWN[node]} for node in OWN]
CONNECTIONS = [{"node": node} for node in (None, 1, 1, 2)]
VERDICT = {
    "sent": 200,
    "acknowledged": 200,
    "received": 200,
    "lost": 0,
    "duplicates": 0,
    "p50_ms": 3.0,
    "p99_ms": 12.0,
    "max_ms": 40.0,
}


def scrape(requests: float = 0) -> Scrape:
    """Return the totals after some requests, each of 10 µs to 100 µs and 1 ms of CPU."""
    buckets = {0.00001: 0.0, 0.0001: requests, float("inf"): requests}
    return Scrape({"Produce": requests}, {}, buckets, requests / 1000, 50e6, requests * 1000)


def sample(at: float, acknowledged: int, received: tuple[int, int], p50_ms: float | None = 3.0) -> dict[str, Any]:
    """Return a line of the workload."""
    return {"at": at, "acknowledged": acknowledged, "received": received, "p50_ms": p50_ms, "p99_ms": 12.0}


def started() -> Board:
    """Return a board with connected clients, before the first record."""
    board = Board("a Kafka", "127.0.0.1:7000", "127.0.0.1:7009", OWN, Pace((100, 200), 10))
    board.begin(scrape())
    board.see_connections(NODES, CONNECTIONS)
    board.told = TOLD
    board.members = {"demo-member-1": [0, 1], "demo-member-2": [2]}
    return board


def stable(generation: int, **held: list[int]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what the admin port says of a stable hosted group."""
    members = [{"client_id": f"demo-{name}", "assignment": {"demo": some}} for name, some in held.items()]
    return {"state": "Stable", "generation": generation}, members


def hosted() -> Board:
    """Return a board after a run with a hosted group, which a third member has joined and left."""
    board = ended()
    for at, group in (
        (0.5, stable(1, one=[0], two=[1])),
        (1.0, stable(2, one=[0], two=[1], guest=[])),
        (1.5, stable(3, one=[0], two=[1])),
    ):
        board.at = at
        board.see_group(*group)
        board.see_group({**group[0], "state": "PreparingRebalance"}, group[1])
    board.see_group(*group)
    board.at = 2.0
    return board


def ended() -> Board:
    """Return a board after 200 records in two seconds."""
    board = started()
    board.see_sample(sample(1.0, 110, (50, 50)), scrape(400))
    board.see_sample(sample(2.0, 200, (100, 100), None), scrape(1000))
    board.verdict = VERDICT
    return board
