"""Configuration files and KPROXY_* variables, as `kproxy serve`, `config check`, `config show` and SIGHUP read them.

The oracle: a configuration or a `ConfigError` whose text names a place. A configuration can be planned, printed, and
differs in nothing from itself.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final, NoReturn

import yaml

from kproxy.config import Config, load
from kproxy.config.environment import variables
from kproxy.config.plan import notes, plan
from kproxy.config.reload import changes
from kproxy.errors import ConfigError
from kproxy.telemetry.client_telemetry import ClientTelemetry
from tests.fuzz.script import Script, decode
from tests.fuzz.targets.target import ViolationError

_FILE, _VARIABLE = range(2)
"""Kinds of steps: text of the file, and `NAME=value`."""
_EXAMPLES: Final = Path(__file__).parents[3] / "config"
_VALUES: Final = ("1", "[::1]:9092", "8h", "true", "- {name: a, metrics: ['*']}", "null", "a:1,b:2", "info")


class ConfigFiles:
    """The target."""

    kinds = 2
    most = 1 << 13

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="kproxy-fuzz-")
        self._file = Path(self._directory.name, "kproxy.yaml")
        self.seeds = _seeds()

    def run(self, data: bytes) -> None:
        """Load what the steps say; raise for what must not be."""
        steps = decode(data).steps
        self._file.write_bytes(b"".join(step.data for step in steps if step.kind % self.kinds == _FILE))
        variables = (step.data for step in steps if step.kind % self.kinds == _VARIABLE)
        environ = dict(filter(all, map(_variable, variables)))
        try:
            config = load(self._file, {}, environ)
        except ConfigError as error:
            if not str(error).strip() or not error.key:
                raise ViolationError("a ConfigError that names no place") from error
            return
        _use(config)

    def close(self) -> None:
        """As `Target`."""
        self._directory.cleanup()


def _variable(data: bytes) -> tuple[str, str]:
    """Return name and value, as the system hands them over; an empty name is none."""
    name, _, value = data.partition(b"\0")[0].decode("utf-8", "surrogateescape").partition("=")
    return name, value


def _use(config: Config) -> None:
    """Do with it what kproxy does before it listens."""
    for line in plan(config):
        str(line)
    for note in notes(config):
        str(note)
    differing = changes(config, config)
    if differing:
        raise ViolationError(f"a configuration differs from itself: {differing}")
    yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    for index, cluster in enumerate(config.clusters):
        if cluster.telemetry is not None:
            try:
                ClientTelemetry(cluster.name, index, config, _nobody)
            except ConfigError:
                pass


def _nobody(to: object) -> NoReturn:
    raise ViolationError(f"a receiver that writes to {to} dials before it runs")


def _seeds() -> list[bytes]:
    files = [file.read_bytes() for file in sorted(_EXAMPLES.glob("*.yaml"))]
    minimal = (_EXAMPLES / "minimal.yaml").read_bytes()
    found = [Script.of([(_FILE, text)]).encode() for text in files]
    for number, name in enumerate(sorted(variables())):
        value = _VALUES[number % len(_VALUES)]
        found.append(Script.of([(_FILE, minimal), (_VARIABLE, f"{name}={value}".encode())]).encode())
    hard = [
        "a: &a [*a]",
        "a: &a {b: 1}\n<<: *a",
        "%YAML 1.1\n---\na: 1\n---\nb: 2",
        "? [a]\n: b",
        "a: !!python/object:x {}",
    ]
    return [*found, *[Script.of([(_FILE, text.encode())]).encode() for text in hard]]


def make() -> ConfigFiles:
    """Return the target."""
    return ConfigFiles()
