"""Generates plans to walk a large message as it arrives: small functions from one array or blob to the next.

`skims` calls it for each version of the messages that stream: Fetch and ShareFetch responses, Produce requests.
"""

from __future__ import annotations

from codegen.addresses import carries
from codegen.schema import Field, Message, Struct
from codegen.source import Source
from codegen.walks import Walk


def stream(message: Message, version: int, prefix: str) -> str:
    """Return the functions for one version, and the plan made of them, as `<prefix>_layout`."""
    source = Source()
    endpoints = next(f for f in message.struct.fields if carries(f, f"{message.name}.{f.name}"))
    before = message.struct.plain(version)
    if version not in endpoints.tagged:
        before = before[: before.index(endpoints)]
    plan = _Planner(source, message, version, prefix).plan(before, None)
    _endpoints(source, message, version, endpoints, prefix)
    tag = endpoints.tag if version in endpoints.tagged else None
    source()
    source()
    source(f"{prefix}_layout = StreamLayout({plan}, {prefix}_endpoints, {tag})")
    return source.text()


def request_stream(message: Message, version: int, prefix: str) -> str:
    """Return the same for a request; the walk ends with its last array."""
    source = Source()
    plan = _Planner(source, message, version, prefix).plan(message.struct.plain(version), None)
    source()
    source()
    source(f"{prefix}_layout = {plan}")
    return source.text()


def _endpoints(source: Source, message: Message, version: int, field: Field, prefix: str) -> None:
    source()
    source()
    arguments = "buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]"
    with source.block(f"def {prefix}_endpoints({arguments}) -> int"):
        walk = Walk(source, message, version)
        walk.field(field, f"{message.name}.{field.name}")
        walk.settle()
        source("return pos")


class _Planner:
    """Splits fields into steps. Each ends with a count or size; its function continues over empty arrays."""

    def __init__(self, source: Source, message: Message, version: int, prefix: str) -> None:
        self._source = source
        self._message = message
        self._version = version
        self._prefix = prefix
        self._number = 0

    def plan(self, fields: list[Field], struct: Struct | None) -> str:
        """Return a tuple of steps as an expression; with `struct`, the last step ends with its tagged section."""
        runs = _runs(fields)
        steps = [self._step(runs, index, struct) for index in range(len(runs))]
        return f"({', '.join(step for step in steps if step)},)"

    def _step(self, runs: list[list[Field]], index: int, struct: Struct | None) -> str:
        last = runs[index][-1] if runs[index] else None
        if last is None and struct is None:
            return ""
        name = self._function(runs, index, struct)
        if last is None or not _ends(last):
            return f"Step({name}, RUN, ())"
        if not last.struct:
            return f"Step({name}, BLOB, ())"
        return f"Step({name}, ARRAY, {self.plan(last.struct.plain(self._version), last.struct)})"

    def _function(self, runs: list[list[Field]], first: int, struct: Struct | None) -> str:
        self._number += 1
        name = f"{self._prefix}_step_{self._number}"
        self._source()
        self._source()
        with self._source.block(
            f"def {name}(buf: Buffer, pos: int, end: int, errors: list[int]) -> tuple[int, int, int]"
        ):
            walk = Walk(self._source, self._message, self._version)
            for index in range(first, len(runs)):
                if self._ended(walk, runs, index, struct):
                    break
        return name

    def _ended(self, walk: Walk, runs: list[list[Field]], index: int, struct: Struct | None) -> bool:
        """Emit one run; return True when the function always ends with it."""
        run = runs[index]
        ends = bool(run) and _ends(run[-1])
        for field in run[:-1] if ends else run:
            walk.field(field, f"{self._message.name}.{field.name}")
        if not ends:
            if struct:
                walk.tags(struct, self._message.name)
            walk.settle()
            self._source(f"return pos, 0, {index}")
            return True
        walk.length(run[-1])
        count = "n - 1" if walk.flexible else "n"
        if run[-1].struct and (struct or any(runs[index + 1 :])):
            with self._source.block(f"if n > {int(walk.flexible)}"):
                self._source(f"return pos, {count}, {index}")
            return False
        self._source(f"return pos, {count}, {index}")
        return True


def _ends(field: Field) -> bool:
    """Return True when a step ends with the field's count or size."""
    return field.type == "records" or (field.is_array and field.struct is not None)


def _runs(fields: list[Field]) -> list[list[Field]]:
    """Return the fields of each step; the last run, which may be empty, ends with the struct."""
    runs: list[list[Field]] = [[]]
    for field in fields:
        runs[-1].append(field)
        if _ends(field):
            runs.append([])
    return runs
