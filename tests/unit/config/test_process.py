"""kproxy.config.process: settings of the whole process."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from kproxy.config import Admin, Drain, HostPort, Limits, Log, Timeouts, Topology
from tests.unit.config.problems import problems_of


@pytest.mark.parametrize("written", ["[::1]:9190", {"listen": "[::1]:9190"}])
def test_admin_forms(written: object) -> None:
    """The admin listener is given as an address alone, or with its key."""
    assert Admin.model_validate(written).listen == HostPort(host="::1", port=9190)


@pytest.mark.parametrize(
    ("model", "data", "problem"),
    [
        (Admin, 9190, "must be a mapping, not 9190"),
        (Admin, "9190", "listen: '9190' lacks a host or a port"),
        (Admin, {}, "listen: is required"),
        (
            Admin,
            {"port": 1, "listen": "a:1"},
            "port: is no setting; known here: allowed_hosts, dangerously_let_anyone_command, listen, tls, token_file",
        ),
        (Admin, {"listen": "a:1", "allowed_hosts": ["http://a"]}, "allowed_hosts.0: 'http://a' is not"),
        (Admin, {"listen": "a:1", "token_file": ""}, "token_file: is empty"),
        (
            Admin,
            {"listen": "a:1", "token_file": "t", "dangerously_let_anyone_command": True},
            "dangerously_let_anyone_command: stands beside token_file",
        ),
        (
            Admin,
            {"listen": "a:1", "tls": {"certificate": "c", "client_ca": "a"}, "dangerously_let_anyone_command": True},
            "dangerously_let_anyone_command: stands beside tls.client_ca",
        ),
        (Admin, {"listen": "a:1", "tls": {}}, "tls.certificate: is required"),
        (Admin, {"listen": "a:1", "tls": {"certificate": "c", "client_names": ["x"]}}, "tls.client_names: needs a cl"),
        (
            Admin,
            {"listen": "a:1", "tls": {"certificate": "c", "require_client_certificate": True}},
            "tls.require_client_certificate: needs a client_ca",
        ),
        (
            Admin,
            {"listen": "a:1", "tls": {"certificate": "c", "client_ca": "a", "client_names": [" "]}},
            "tls.client_names.0: is empty",
        ),
        (Limits, {"max_request_bytes": 0}, "max_request_bytes: must be at least 1, not 0"),
        (Limits, {"max_response_bytes": "2GiB"}, "max_response_bytes: must be at most 2147483647, not 2147483648"),
        (Limits, {"max_held_bytes": [1]}, "max_held_bytes: must be a whole number, not a list"),
        (Limits, {"max_connections": 0}, "max_connections: must be at least 1, not 0"),
        (Limits, {"max_connections": "many"}, "max_connections: must be a whole number, not 'many'"),
        (Limits, {"max_connections": "9" * 5000}, "max_connections: must be a whole number of reasonable size, not"),
        (Timeouts, {"connect": 0}, "connect: must be more than 0, not 0"),
        (Timeouts, {"first_request": None}, "first_request: must be a number, not empty"),
        (Timeouts, {"first_request": float("inf")}, "first_request: must be a finite number, not inf"),
        (Topology, {"interval": "1ms"}, "interval: must be at least 0.1, not 0.001"),
        (Topology, {"epoch_floor": 0}, "epoch_floor: must be at least 0.1, not 0"),
        (Topology, {"grace": -1}, "grace: must be at least 0, not -1"),
        (Topology, {"retired": "open"}, "retired: must be 'refuse' or 'serve', not 'open'"),
        (Drain, {"rebootstrap": "perhaps"}, "rebootstrap: must be true or false, not 'perhaps'"),
        (Drain, {"deadline": -0.5}, "deadline: must be at least 0, not -0.5"),
        (Log, {"level": "trace"}, "level: must be 'debug', 'info', 'warning', 'error' or 'critical', not 'trace'"),
        (Log, {"format": "xml" * 100}, "format: must be 'json', 'console' or 'auto', not 'xmlxml"),
        (Log, "info", "must be a mapping, not 'info'"),
    ],
)
def test_bad_values(model: type[BaseModel], data: Any, problem: str) -> None:
    """Each class of mistake has its own line, at its key, and never a long one."""
    (line,) = problems_of(model, data)
    assert line.removeprefix(": ").startswith(problem)
    assert len(line) < 160


def test_drain_may_be_immediate() -> None:
    """A deadline of 0 means: close at once."""
    assert Drain.model_validate({"deadline": 0}).deadline == 0


def test_capitals_of_other_programs() -> None:
    """One variable may give all programs of a chart their level."""
    log = Log.model_validate({"level": "DEBUG", "format": "Json"})
    assert (log.level, log.format) == ("debug", "json")
    assert {Log.model_validate({"level": level}).level for level in ("warn", "WARN")} == {"warning"}
