"""Build the Config from flags, environment and file, or report every problem at once with its place.

`kproxy serve` calls `load` when it starts and at each SIGHUP; `kproxy config check` and `show` call it once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import ValidationError

from kproxy.config.base import Path, dotted
from kproxy.config.document import Document, read_document
from kproxy.config.environment import (
    CLUSTERS,
    CONFIG_FILE,
    FLAGS,
    YAML_VALUES,
    Setting,
    flag,
    from_environment,
    from_flags,
    short_forms,
    value_of,
    variable,
)
from kproxy.config.models import Config
from kproxy.config.reasons import reason, worth_reporting
from kproxy.errors import ConfigError

DEFAULT_NAME: Final = "default"
_ONLY: Final = ("clusters", 0)


class ConfigProblems(ConfigError):
    """All problems of a configuration; `key` and `reason` are the first one's. str() has one line for each."""

    def __init__(self, problems: Sequence[ConfigError]) -> None:
        super().__init__(problems[0].key, problems[0].reason)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def load(
    file: FilePath | None, overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ
) -> Config:
    """Return the configuration: `overrides` (flags) win over `environ`, then come `file` and the defaults.

    Without `file`, KPROXY_CONFIG names it. The keys of `overrides` are dotted settings (`log.level`); a virtual
    cluster's have no prefix (`listen`). None means not given. Raises ConfigProblems, a ConfigError.
    """
    by_variable, problems = from_environment(environ)
    given = [*by_variable, *from_flags(overrides or {})]
    named = file or environ.get(CONFIG_FILE)
    try:
        document = read_document(FilePath(named)) if named else Document("")
        tree = _join(document, given)
    except ConfigError as error:
        raise ConfigProblems([*problems, error]) from None
    try:
        config = Config.model_validate(tree)
    except ValidationError as error:
        origins = _Origins(document, given)
        problems += [
            origins.problem(e["loc"], reason(e, Config)) for e in worth_reporting(error.errors(include_url=False))
        ]
    if problems:
        raise ConfigProblems(problems)
    return config


def _join(document: Document, given: Sequence[Setting]) -> dict[str, Any]:
    """Return the file's data with the given settings put over it. ConfigError for a setting of an unclear cluster."""
    tree: dict[str, Any] = deepcopy(document.data)
    for setting in given:
        if setting.path == CLUSTERS:
            tree["clusters"] = value_of(setting)
    for setting in given:
        if setting.path in short_forms():
            _put(_only_cluster(tree, setting.origin), setting.path, value_of(setting))
        elif setting.path != CLUSTERS:
            _put(tree, setting.path, value_of(setting))
    return tree


def _only_cluster(tree: dict[str, Any], origin: str) -> dict[str, Any]:
    clusters = tree.get("clusters") or [{"name": DEFAULT_NAME}]
    if not isinstance(clusters, list) or not isinstance(clusters[0], dict):
        return {}  # validation reports what is wrong with them
    if len(clusters) > 1:
        raise ConfigError(
            origin, f"is for a single virtual cluster, but {len(clusters)} are configured: set it in the file"
        )
    tree["clusters"] = clusters
    only: dict[str, Any] = clusters[0]
    return only


def _put(tree: dict[str, Any], path: Path, value: Any) -> None:
    for key in path[:-1]:
        inner = tree.get(str(key))
        if key == "admin" and isinstance(inner, str):  # its short form
            inner = {"listen": inner}
        if inner is not None and not isinstance(inner, dict):
            return  # validation reports what is wrong with it
        tree[str(key)] = inner = {} if inner is None else inner
        tree = inner
    tree[str(path[-1])] = value


class _Origins:
    """Finds the flag, the variable or the line that the value at a path came from."""

    def __init__(self, document: Document, given: Sequence[Setting]) -> None:
        self._document = document
        self._given = {(_ONLY + s.path if s.path in short_forms() else s.path): s for s in given}

    def problem(self, path: Path, why: str) -> ConfigError:
        for length in range(len(path), 0, -1):
            if setting := self._given.get(path[:length]):
                inside = dotted(path[length:]) if setting.path in YAML_VALUES else ""
                return ConfigError(setting.origin, f"{inside}: {why}" if inside else why)
        line = self._document.line(path)
        if line is not None:
            return ConfigError(f"{self._document.name}: {dotted(path)}", f"{why} (line {line})")
        if path[:2] == _ONLY and path[2:]:
            return self._absent(tuple(map(str, path[2:])), why)
        if path == CLUSTERS:
            why = f"{why}: give them in a --config file, or --bootstrap-servers and --listen"
        return ConfigError(f"{self._document.name}: {dotted(path)}" if self._document.name else dotted(path), why)

    @staticmethod
    def _absent(path: tuple[str, ...], why: str) -> ConfigError:
        """Return the problem of a setting that was not given at all: it names the flag and the variable."""
        if path in FLAGS:
            return ConfigError(flag(path), f"{why} (or {variable(path)})")
        return ConfigError(variable(path), why)
