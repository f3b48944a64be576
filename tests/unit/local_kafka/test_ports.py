"""kproxy.local_kafka.ports: ports are found whatever the kernel uses for outgoing connections."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.local_kafka import ports


@pytest.mark.parametrize(("begin", "highest"), [(32_768, 32_768), (20_000, 20_000), (1024, 32_768), (12_500, 32_768)])
def test_below_the_range_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: int, highest: int
) -> None:
    """Many servers give outgoing connections all ports from 1024 on."""
    said = tmp_path / "range"
    said.write_text(f"{begin}\t60999\n")
    monkeypatch.setattr(ports, "_EPHEMERAL", said)
    monkeypatch.delenv(ports.SHARE, raising=False)  # the gate's
    found = [ports.free_ports(5) for _ in range(20)]
    assert all(each.start >= 12_000 and each.stop <= highest for each in found)


def test_who_runs_side_by_side_has_ports_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of three parts lies behind the one before, all of them in the range."""
    said = tmp_path / "range"
    said.write_text("32768\t60999\n")
    monkeypatch.setattr(ports, "_EPHEMERAL", said)
    parts = []
    for share in ("1/3", "2/3", "3/3"):
        monkeypatch.setenv(ports.SHARE, share)
        parts.append([port for _ in range(50) for port in ports.free_ports(5)])
    assert min(parts[0]) >= 12_000
    assert max(parts[0]) < min(parts[1])
    assert max(parts[1]) < min(parts[2])
    assert max(parts[2]) < 32_768
