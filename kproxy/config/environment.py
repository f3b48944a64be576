"""Settings from flags and KPROXY_* variables: their names, the settings they set, and variables to ignore.

`kproxy.config.load` calls it when kproxy starts and at each SIGHUP. The tables for the docs take the names from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, Final

from pydantic import BaseModel

from kproxy.config.address import HostPort
from kproxy.config.base import dotted
from kproxy.config.cluster import VirtualCluster
from kproxy.config.models import Config
from kproxy.config.similar import hint
from kproxy.errors import ConfigError

PREFIX: Final = "KPROXY_"
CONFIG_FILE: Final = "KPROXY_CONFIG"
# Not settings: the directory of Kafka and other tools for tests; how commands find a running kproxy; the
# directory of the jars that the pipeline gives Spark.
NOT_SETTINGS: Final = frozenset(
    {
        "KPROXY_TOOLS",
        "KPROXY_ADMIN_URL",
        "KPROXY_ADMIN_TOKEN_FILE",
        "KPROXY_ADMIN_CA_FILE",
        "KPROXY_ADMIN_CERTIFICATE_FILE",
        "KPROXY_ADMIN_KEY_FILE",
        "KPROXY_ADMIN_SERVER_NAME",
        "KPROXY_SPARK_JARS",
    }
)
CLUSTERS: Final = ("clusters",)
# Mappings, and lists of them; their variables hold YAML.
YAML_VALUES: Final = frozenset(
    {
        CLUSTERS,
        ("upstreams",),
        ("groups",),
        ("byte_rates",),
        ("faults", "rules"),
        ("authentication", "certificates"),
        ("authentication", "oauthbearer", "required_claims"),
        ("telemetry", "subscriptions"),
        ("receivers",),
        ("events", "destinations"),
    }
)
# Settings with a flag of `kproxy serve`, each named after its setting; every setting has a variable.
FLAGS: Final = frozenset(
    {("bootstrap_servers",), ("listen",), ("advertised_host",), ("admin",), ("log", "level"), ("log", "format")}
)
# Kubernetes sets these in every pod beside a Service called kproxy or kproxy-anything (enableServiceLinks). Its
# ..._PORT holds a URL, which distinguishes it from a misspelt setting.
_SERVICE_LINK: Final = re.compile(
    r"KPROXY_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)"
)
_SERVICE_URL: Final = re.compile(r"(?:tcp|udp|sctp)://\S+:[0-9]+")

StrPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """One value from a flag or a variable: the path in Config that it sets, and the flag's or variable's name."""

    path: StrPath
    value: Any
    origin: str


@cache
def short_forms() -> frozenset[StrPath]:
    """Return a virtual cluster's settings; for a single one, flags and variables name them without `clusters`."""
    return frozenset(_leaves(VirtualCluster))


@cache
def variables() -> Mapping[str, StrPath]:
    """Return every variable's setting. One with a flag has two variables: KPROXY_LOG_LEVEL and KPROXY_LOG__LEVEL."""
    paths = sorted({*short_forms(), *_leaves(Config), CLUSTERS})
    return {variable(path): path for path in paths} | {PREFIX + "_".join(path).upper(): _full(path) for path in FLAGS}


def variable(path: StrPath) -> str:
    """Return `KPROXY_LOG__LEVEL` for log.level."""
    return PREFIX + "__".join(path).upper()


def flag(path: StrPath) -> str:
    """Return `--log-level` for log.level."""
    return "--" + "-".join(path).replace("_", "-")


def _full(path: StrPath) -> StrPath:
    """Return the full path: `--admin` and KPROXY_ADMIN are short for admin.listen."""
    return ("admin", "listen") if path == ("admin",) else path


def from_flags(overrides: Mapping[str, Any]) -> list[Setting]:
    """Return the settings by dotted name, as `log.level`; None means not given. KeyError for a name without a flag."""
    paths = {dotted(path): path for path in FLAGS}
    given = [(paths[name], value) for name, value in overrides.items() if value is not None]
    return [Setting(_full(path), value, flag(path)) for path, value in given]


def from_environment(environ: Mapping[str, str]) -> tuple[list[Setting], list[ConfigError]]:
    """Return the settings among the variables, and their problems. An empty variable counts as not given."""
    settings: dict[StrPath, Setting] = {}
    problems: list[ConfigError] = []
    for name in sorted(n for n, value in environ.items() if n.startswith(PREFIX) and value.strip()):
        path = variables().get(name)
        if path is None:
            problems += _unknown(name, environ[name])
            continue
        first = settings.setdefault(path, Setting(path, environ[name], name))
        if first.value != environ[name]:
            problems.append(ConfigError(name, f"differs from {first.origin}, which means the same"))
    return list(settings.values()), problems


def value_of(setting: Setting) -> Any:
    """Return the value; for a setting in `YAML_VALUES` the YAML (or JSON) in it, parsed. ConfigError as for a file."""
    if setting.path not in YAML_VALUES:
        return setting.value
    from kproxy.config.yaml_text import parse_yaml  # noqa: PLC0415 - 20 ms that only such a variable costs

    return parse_yaml(setting.value, setting.origin)[0]


def _unknown(name: str, value: str) -> Iterator[ConfigError]:
    if name in NOT_SETTINGS or name == CONFIG_FILE or _SERVICE_LINK.fullmatch(name):
        return
    if name.endswith("_PORT") and _SERVICE_URL.fullmatch(value):
        return
    known = [known.removeprefix(PREFIX) for known in (*variables(), CONFIG_FILE)]
    yield ConfigError(name, f"is no setting of kproxy{hint(name.removeprefix(PREFIX), known, PREFIX)}")


def _leaves(model: type[BaseModel], path: StrPath = ()) -> Iterator[StrPath]:
    for name, field in model.model_fields.items():
        group = _group(field.annotation)
        if group:
            yield from _leaves(group, (*path, name))
        elif (*path, name) != CLUSTERS:
            yield (*path, name)


def _group(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a field, also of an optional one; None for a plain value: addresses and lists are such."""
    kinds = annotation.__args__ if isinstance(annotation, UnionType) else (annotation,)
    models = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
    return next((model for model in models if model is not HostPort), None)
