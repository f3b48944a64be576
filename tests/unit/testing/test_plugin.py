"""kproxy.testing as pytest loads it: what it costs runs that do not use it, and what kproxy is started with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kproxy.testing
from kproxy.testing.process import settings
from tests.support.every import every

LOADED = "import sys, kproxy.testing; print(*sorted(m for m in sys.modules if m.partition('.')[0] == 'kproxy'))"


def test_loading_it_loads_nothing_of_the_proxy() -> None:
    """Every run of pytest loads it, where kproxy is installed."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["kproxy", "kproxy.testing", "kproxy.testing.plugin"]


def test_a_run_that_does_not_use_it(tmp_path: Path) -> None:
    """Warnings are errors there, and the options are known; nothing is started."""
    (tmp_path / "test_own.py").write_text(
        "def test_own(pytestconfig):\n    assert pytestconfig.getini('kproxy_start_timeout')\n"
    )
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", "base"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(tmp_path.rglob("kproxy.log"))


@every("name", kproxy.testing.__all__)
def test_names(name: str) -> None:
    """All that it exports is there, also what is imported late."""
    assert getattr(kproxy.testing, name).__name__.endswith(name)


def test_a_name_that_is_not_there() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match=r"module 'kproxy.testing' has no attribute 'Kafka'"):
        _ = kproxy.testing.Kafka


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, {"bootstrap_servers": "kafka:9092", "faults": {"enabled": True}}),
        ({"faults": {"seed": 7}}, {"bootstrap_servers": "kafka:9092", "faults": {"enabled": True, "seed": 7}}),
        ({"upstreams": [{"name": "a"}]}, {"upstreams": [{"name": "a"}], "faults": {"enabled": True}}),
        ({"listen": "127.0.0.1:9192"}, {"listen": "127.0.0.1:9192", "bootstrap_servers": "kafka:9092"}),
    ],
)
def test_settings(own: dict[str, Any], expected: dict[str, Any]) -> None:
    """The user's settings come first, and faults stay enabled beside them."""
    (cluster,) = settings("kafka:9092", own)["clusters"]
    assert expected.items() <= cluster.items()
    assert "bootstrap_servers" in cluster or "upstreams" in own
