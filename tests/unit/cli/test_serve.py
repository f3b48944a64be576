"""kproxy.cli.serve: from flags to a process that serves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kproxy.config import Config
from kproxy.errors import ConfigError
from tests.unit.cli.running import printed, run


def test_serve_runs_until_sigterm() -> None:
    """From flags alone it listens; a signal ends it with exit code 0."""
    command = [sys.executable, "-m", "kproxy", "serve", "--bootstrap-servers", "127.0.0.1:1", "--listen", "127.0.0.1:0"]
    with subprocess.Popen([*command, "--log-format", "json"], stderr=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stderr
            listening = next(event for line in serving.stderr if (event := json.loads(line))["event"] == "listening")
            host, _, port = listening["address"].rpartition(":")
            socket.create_connection((host, int(port)), timeout=10).close()
        finally:
            serving.terminate()
        assert serving.wait(timeout=20) == 0


def test_a_port_in_use_is_one_line() -> None:
    """An error that only binding finds is reported in the same form."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("serve", "--bootstrap-servers", "127.0.0.1:1", "--listen", address)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert "listen: " in line
    assert address in line


def test_reload_reads_flags_and_file_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What app gets to reload with means the same flags, and the file as it is by then; a mistake is a ConfigError."""
    file = tmp_path / "kproxy.yaml"
    file.write_text("clusters: [{name: a, bootstrap_servers: 'a:1', listen: 'h:1'}]")
    seen: list[Config] = []

    def serving(config: Config, *, reload: Callable[[], Config]) -> int:
        seen.append(config)
        file.write_text("clusters: [{name: a, bootstrap_servers: 'b:2', listen: 'h:1'}]\nlog: {level: debug}")
        seen.append(reload())
        file.write_text("clusters: []")
        with pytest.raises(ConfigError, match="must not be empty"):
            reload()
        return 3

    monkeypatch.setattr("kproxy.app.run", serving)
    assert printed(capsys, ["serve", "--config", str(file), "--log-format", "json"]) == (3, "", "")
    assert [(str(config.clusters[0].bootstrap_servers[0]), config.log.format) for config in seen] == [
        ("a:1", "json"),
        ("b:2", "json"),
    ]
    assert [config.log.level for config in seen] == ["info", "debug"]
