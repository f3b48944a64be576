"""kproxy.cli.serve: from flags to a process that serves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

from tests.unit.cli.running import run


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
    """What only binding can tell is told in the same form."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("serve", "--bootstrap-servers", "127.0.0.1:1", "--listen", address)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert "listen: " in line
    assert address in line
