"""kproxy.cli.root: help, mistakes, exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kproxy import __version__
from tests.unit.cli.running import printed, run

SERVERS = ("--bootstrap-servers", "a:1,b:2", "--listen", "0.0.0.0:9092")


def test_version() -> None:
    """One line, from a real process, both ways of starting it."""
    assert (run("--version").stdout, run("--version").returncode) == (f"kproxy {__version__}\n", 0)
    script = Path(sys.executable).with_name("kproxy")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout.startswith(
        "kproxy "
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["serve", "--help"],
        ["config", "check", "--help"],
        ["failover", "--help"],
        ["telemetry", "subscribe", "--help"],
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    """What answers without a configuration is quick: it loads none of the libraries that cost start-up time."""
    program = (
        "import sys; from kproxy.cli import main; main(sys.argv[1:]); "
        "heavy = {'pydantic', 'yaml', 'rich', 'trio', 'structlog', 'prometheus_client', 'h11', 'asyncio', 'http'}; "
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """With a line on each, and no other than there are."""
    _, out, _ = printed(capsys, ["--help"])
    listed = [line.split(maxsplit=1) for line in out.partition("Commands:\n")[2].splitlines()]
    names = [
        "clients",
        "clusters",
        "config",
        "demo",
        "errors",
        "failover",
        "faults",
        "groups",
        "pipeline",
        "rebootstrap",
        "reload",
        "serve",
        "telemetry",
        "transactions",
        "users",
    ]
    assert [name for name, _ in listed] == names
    assert [name for name, _ in listed if printed(capsys, [name, "--help"])[0]] == []


def test_serve_without_a_file_loads_no_yaml() -> None:
    """PyYAML takes a twentieth of the start; settings of flags and variables need none of it."""
    program = "import sys; import kproxy.app.run; print('yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_serve_loads_no_other_command() -> None:
    """Its start-up is what counts."""
    program = "import sys; from kproxy.cli import main; main(['serve']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {name for name in done.stdout.split() if name.startswith("kproxy.cli.")} == {
        f"kproxy.cli.{name}" for name in ("output", "root", "serve")
    }


@pytest.mark.parametrize("arguments", [[], ["config"], ["errors"], ["telemetry"]])
def test_bare_commands_print_help(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """A command that needs a command says which there are, and fails."""
    code, out, err = printed(capsys, arguments)
    assert (code, out) == (2, "")
    assert "Commands:" in err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["srve"], "No such command 'srve'."),
        (["serve", "--listn", "a:1"], "No such option '--listn'. Did you mean '--listen'? (see kproxy serve --help)"),
        (["serve", "--log-level", "loud"], "Invalid value for '--log-level': 'loud' is not one of"),
        (["serve", "extra"], "Got unexpected extra argument (extra) (see kproxy serve --help)"),
        (["serve"], "clusters: is required: give them in a --config file, or --bootstrap-servers and --listen"),
        (["serve", "--listen", "a:1"], "--bootstrap-servers: is required, unless there are upstreams (or KPROXY_BOOT"),
        (["serve", *SERVERS, "--listen", "9092"], "--listen: '9092' lacks a host or a port; write host:port"),
        (["serve", *SERVERS, "--admin", "a:x"], "--admin: 'x' is not a port (0 to 65535)"),
        (
            ["serve", *SERVERS, "--advertised-host", "[::]"],
            "--advertised-host: '[::]' has brackets; write an IPv6 address without them: ::",
        ),
        (["serve", *SERVERS, "--listen", ""], "--listen: '' lacks a host or a port"),
        (["serve", "--config", "/no/such.yaml"], "/no/such.yaml: cannot be read: No such file or directory"),
        (["config", "check"], "Missing argument 'FILE'. (see kproxy config check --help)"),
        (["config", "check", "/no/such.yaml"], "/no/such.yaml: cannot be read: No such file or directory"),
        (["rebootstrap"], "Missing argument 'NAME'. (see kproxy rebootstrap --help)"),
        (["failover", "a", "--two", "b"], "No such option '--two'. Did you mean '--to'? (see kproxy failover --help)"),
        (["clusters", "--admin", "127.0.0.1:9190"], "'127.0.0.1:9190' is no URL of an admin port; write http://host"),
        (["demo", "--seconds", "0"], "Invalid value for '--seconds': 0 is not in the range x>=1."),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], line: str) -> None:
    """The key and the reason on standard error, exit code 2, nothing else."""
    code, out, err = printed(capsys, arguments)
    assert (code, out) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1


def test_mistakes_in_a_process(tmp_path: Path) -> None:
    """The same from outside: one line for each problem, no traceback."""
    file = tmp_path / "kproxy.yaml"
    file.write_text("clusters: [{name: a, bootstrap_servers: a:1, listen: h:1}]\nlimits: {max_conections: 1}\n")
    done = run("serve", KPROXY_CONFIG=str(file), KPROXY_LOG_LEVEL="loud")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"{file}: limits.max_conections: is no setting; did you mean max_connections? (line 2)",
        "KPROXY_LOG_LEVEL: must be 'debug', 'info', 'warning', 'error' or 'critical', not 'loud'",
    ]
