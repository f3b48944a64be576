"""The checks at the end of the demo, each with a line for people."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from kproxy.demo.board import Board


@dataclass(frozen=True, slots=True)
class Check:
    """Whether the check passed, and what it found."""

    ok: bool
    found: str


def check(board: Board, peers: AbstractSet[int], sockets: int) -> list[Check]:
    """Run all checks; `peers` are the remote ports of the clients' sockets, `sockets` is their number."""
    found = [_delivered(board), _lost(board), _duplicates(board), _advertised(board), _sockets(board, peers, sockets)]
    return found if board.group is None else [*found, _rebalanced(board)]


def _delivered(board: Board) -> Check:
    verdict = board.verdict or {}
    sent, acknowledged, received = (verdict.get(name, 0) for name in ("sent", "acknowledged", "received"))
    if sent == acknowledged == received > 0:
        return Check(True, f"{sent:,} records sent, acknowledged and received")
    return Check(False, f"{sent:,} records sent, {acknowledged:,} acknowledged, {received:,} received")


def _lost(board: Board) -> Check:
    lost = (board.verdict or {}).get("lost")
    return Check(lost == 0, f"acknowledged records lost: {'none' if lost == 0 else lost}")


def _duplicates(board: Board) -> Check:
    duplicates = (board.verdict or {}).get("duplicates")
    return Check(duplicates == 0, f"records received twice: {'none' if duplicates == 0 else duplicates}")


def _advertised(board: Board) -> Check:
    """Compare the nodes' addresses as the clients see them with those that kproxy reports as advertised."""
    advertised = {node.node_id: node.told for node in board.nodes}
    leaked = sorted(set(board.told.values()) & set(board.own.values()))
    if board.told and dict(board.told) == advertised and not leaked:
        return Check(True, f"clients were told {len(board.told)} nodes, all at kproxy's ports")
    return Check(False, f"clients were told {dict(board.told)}, kproxy advertises {advertised}")


def _sockets(board: Board, peers: AbstractSet[int], sockets: int) -> Check:
    around = sorted(peers & {_port(address) for address in board.own.values()})
    if around:
        return Check(False, f"clients connected past kproxy, to the brokers' own ports {around}")
    known = {_port(board.bootstrap), *(_port(node.told) for node in board.nodes)}
    if not peers or peers - known:
        return Check(False, f"{sockets} client sockets, at ports {sorted(peers)}; kproxy's are {sorted(known)}")
    return Check(True, f"{sockets} client sockets, each to kproxy, none to a broker's own port")


def _rebalanced(board: Board) -> Check:
    """Compare the members of the hosted group's generations: a third one has joined, and left."""
    held = [set(generation.held) for generation in board.generations]
    numbers = ", ".join(str(generation.number) for generation in board.generations)
    if [len(names) for names in held[-3:]] == [2, 3, 2] and held[-3] == held[-1] < held[-2]:
        return Check(True, f"a member joined the group that kproxy hosts, and left it: generations {numbers}")
    sizes = ", ".join(str(len(names)) for names in held)
    return Check(False, f"a member joined and left, but the generations {numbers} had {sizes} members")


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])
