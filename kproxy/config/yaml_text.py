"""YAML text as plain data, with the line of each path; some of what YAML permits, such as a key twice, is refused.

Loaded with the first file, or the first variable that holds YAML: PyYAML takes 20 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from kproxy.config.base import Path
from kproxy.errors import ConfigError

# libyaml's loader, when PyYAML has it, reads the same documents about ten times faster.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST: Final = 50
# Plain text, and <<, which merges another mapping.
_KEY_TAGS: Final = frozenset({"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"})

# The name of a tag, an alias or an anchor is not shown. A secret without quotation marks is one, if it begins with !, *
# or &.
_NAMED: Final = re.compile(r"(tag|alias|anchor) (?:'.*'|\".*\")")


def parse_yaml(text: str, name: str) -> tuple[Any, dict[Path, int]]:
    """Return the value of a YAML document and the line of each path in it.

    ConfigError has `name`, the reason, and line and column where they are known.
    """
    loader = None
    try:
        _check_depth(text, name)
        loader = _Loader(text)
        node = loader.get_single_node()
        lines = {path: item.start_mark.line + 1 for path, item in _walk(node, (), frozenset(), set())}
        return (None if node is None else loader.construct_document(node)), lines
    except yaml.MarkedYAMLError as error:
        raise ConfigError(name, _on_one_line(error)) from None
    except (yaml.YAMLError, ValueError) as error:  # a forbidden character, or 2020-13-45, which looks like a date
        raise ConfigError(name, " ".join(str(error).split())) from None
    finally:
        if loader is not None:
            loader.dispose()


def _check_depth(text: str, name: str) -> None:
    """Raise ConfigError for too deep nesting, before libyaml, which builds nodes recursively, runs out of stack."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ConfigError(name, f"is nested too deeply{_where(event.start_mark)}")


def _on_one_line(error: yaml.MarkedYAMLError) -> str:
    said = ", ".join(filter(None, (error.context, error.problem)))
    return _NAMED.sub(r"\1", said) + _where(error.problem_mark or error.context_mark)


def _where(mark: Any) -> str:
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""


def _walk(
    node: yaml.Node | None, path: Path, around: frozenset[int], seen: set[int]
) -> Iterator[tuple[Path, yaml.Node]]:
    """Yield every node below with its path; raise for a duplicate key and for a node that contains itself.

    A node with aliases is visited once: aliases of aliases would otherwise multiply without end.
    """
    if node is None:
        return
    if id(node) in around:
        raise yaml.MarkedYAMLError(problem="an alias contains itself", problem_mark=node.start_mark)
    if id(node) in seen:
        return
    seen.add(id(node))
    inside = around | {id(node)}
    for key, place, item in _children(node):
        yield (*path, key), place
        yield from _walk(item, (*path, key), inside, seen)


def _children(node: yaml.Node) -> Iterator[tuple[str | int, yaml.Node, yaml.Node]]:
    """Yield each child's key or index, the node with the child's line, and the child."""
    if isinstance(node, yaml.SequenceNode):
        yield from ((index, item, item) for index, item in enumerate(node.value))
    elif isinstance(node, yaml.MappingNode):
        yield from ((key.value, key, item) for key, item in _unique_keys(node))


def _unique_keys(mapping: yaml.MappingNode) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    seen: dict[str, int] = {}
    for key, item in mapping.value:
        if key.tag not in _KEY_TAGS:
            raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key.start_mark)
        if key.value in seen:
            problem = f"the key {key.value!r} stands twice, first on line {seen[key.value]}"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
        seen[key.value] = key.start_mark.line + 1
        yield key, item
