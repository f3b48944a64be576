"""kproxy.cli: what is printed, where, and the exit code."""

from __future__ import annotations

import inspect
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from kproxy import __version__, demo
from kproxy.cli import main
from kproxy.config import Config
from kproxy.config.reference import json_schema

ROOT = Path(__file__).parents[2]
SERVERS = ("--bootstrap-servers", "a:1,b:2", "--listen", "0.0.0.0:9092")


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with no KPROXY_ variable but these."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KPROXY_")}
    command = [sys.executable, "-m", "kproxy", *arguments]
    return subprocess.run(command, env=clean | environ, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own KPROXY_ variables are no part of a test."""
    for name in list(os.environ):
        if name.startswith("KPROXY_"):
            monkeypatch.delenv(name)


def printed(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    code = main(arguments)
    return code, *capsys.readouterr()


def test_version() -> None:
    """One line, from a real process, both ways of starting it."""
    assert (run("--version").stdout, run("--version").returncode) == (f"kproxy {__version__}\n", 0)
    script = Path(sys.executable).with_name("kproxy")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout.startswith(
        "kproxy "
    )


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["serve", "--help"], ["config", "check", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    """What answers without a configuration is quick: it loads none of the libraries that cost start-up time."""
    program = (
        "import sys; from kproxy.cli import main; main(sys.argv[1:]); "
        "heavy = {'pydantic', 'yaml', 'rich', 'trio', 'structlog', 'prometheus_client', 'h11', 'asyncio'}; "
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [[], ["config"]])
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
        (["serve", *SERVERS, "--advertised-host", "[::]"], "--advertised-host: '[::]' is not an IPv6 address"),
        (["serve", *SERVERS, "--listen", ""], "--listen: '' lacks a host or a port"),
        (["serve", "--config", "/no/such.yaml"], "/no/such.yaml: cannot be read: No such file or directory"),
        (["config", "check"], "Missing argument 'FILE'. (see kproxy config check --help)"),
        (["config", "check", "/no/such.yaml"], "/no/such.yaml: cannot be read: No such file or directory"),
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


@pytest.mark.parametrize("example", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_check_shows_every_listener(capsys: pytest.CaptureFixture[str], example: Path) -> None:
    """A line for each, with the backend and what clients are told; exit code 0."""
    code, out, err = printed(capsys, ["config", "check", str(example)])
    assert (code, err) == (0, "")
    config = Config.model_validate(yaml.safe_load(example.read_text()))
    for cluster in config.clusters:
        (bootstrap,) = [
            line for line in out.splitlines() if line.startswith(f"{cluster.name} ") and "bootstrap " in line
        ]
        assert str(cluster.listen) in bootstrap
        for backend in cluster.backends:
            assert ", ".join(map(str, backend.bootstrap_servers)) in out
        assert ", ".join(map(str, cluster.backends[0].bootstrap_servers)) in bootstrap
        assert out.count(f"\n{cluster.name} ") == len(cluster.backends) + max(1, len(cluster.nodes.ranges))
        assert (cluster.advertised_host or "<address the client reached>") in out
    assert (" admin " in out) is (config.admin is not None)


def test_check_takes_variables_into_account() -> None:
    """It shows what serve would do here."""
    done = run("config", "check", str(ROOT / "config" / "minimal.yaml"), KPROXY_LISTEN="127.0.0.1:7000")
    assert "127.0.0.1:7001 and up" in done.stdout


def test_check_names_file_key_and_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`FILE: key: reason`, as editors and CI read it."""
    file = tmp_path / "kproxy.yaml"
    file.write_text("clusters:\n  - {name: a, bootstrap_servers: a:1, listen: '0.0.0.0:9092'}\nadmin: 0.0.0.0:9092\n")
    code, out, err = printed(capsys, ["config", "check", str(file)])
    assert (code, out) == (2, "")
    assert err == f"{file}: admin.listen: port 9092 is also that of clusters.0.listen (line 3)\n"


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on standard output and nothing else."""
    code, out, err = printed(capsys, ["config", "schema"])
    assert (code, out, err) == (0, json_schema(), "")
    assert json.loads(out)["$schema"].startswith("https://json-schema.org/")


def test_show_prints_what_loads_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The settings in effect, flags included, as a file that means the same."""
    file = tmp_path / "shown.yaml"
    _, shown, _ = printed(capsys, ["config", "show", *SERVERS, "--admin", "[::1]:9190", "--log-format", "json"])
    file.write_text(shown)
    assert printed(capsys, ["config", "show", "--config", str(file)]) == (0, shown, "")
    settings = yaml.safe_load(shown)
    assert (settings["admin"], settings["log"]) == ({"listen": "[::1]:9190"}, {"level": "info", "format": "json"})
    assert settings["clusters"][0]["bootstrap_servers"] == ["a:1", "b:2"]


def test_a_closed_pipe_is_no_traceback() -> None:
    """`kproxy config schema | head -1` ends quietly."""
    schema = subprocess.Popen(
        [sys.executable, "-m", "kproxy", "config", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with schema:
        assert schema.stdout
        assert schema.stderr
        schema.stdout.close()
        assert schema.stderr.read() == ""
    assert schema.returncode == 1


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


def test_demo_says_which_extra_it_needs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything starts."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert printed(capsys, ["demo"]) == (2, "", "demo: matplotlib missing: pip install 'kproxy[demo]'\n")


@pytest.mark.parametrize(
    ("flags", "given"),
    [
        ((), {"kafka": False, "stay": False}),
        (("--kafka", "--stay"), {"kafka": True, "stay": True}),
        (("--seconds", "7", "--out", "x/y"), {"kafka": False, "stay": False, "seconds": 7, "out": Path("x/y")}),
    ],
)
def test_demo_passes_what_was_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, flags: Sequence[str], given: dict[str, object]
) -> None:
    """The demo's own defaults hold for what was not; its exit code is the command's."""
    calls = []
    signature = inspect.signature(demo.run)

    def play(**options: object) -> int:
        calls.append(options)
        return 3

    monkeypatch.setattr("kproxy.demo.run", play)
    assert printed(capsys, ["demo", *flags]) == (3, "", "")
    assert calls == [given]
    signature.bind(**given)


def test_values_of_the_choices_are_those_of_the_settings() -> None:
    """The flags offer what the model takes: they are written twice so that --help stays quick."""
    from kproxy import cli

    log = Config.model_json_schema()["$defs"]["Log"]["properties"]
    assert (list(cli._LEVELS), list(cli._FORMATS)) == (log["level"]["enum"], log["format"]["enum"])
