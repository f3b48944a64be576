"""The `files` receiver: gzip files of JSON lines, as `json_lines` makes them of pushes.

The receivers' factory makes it when kproxy starts. `Fanout` then runs its task, which writes queued pushes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kproxy.delivery import files
from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP
from kproxy.telemetry.receivers.json_lines import lines


class Files(files.Files[Push]):
    """Writes pushes; its `lines` come from `lines_with`."""

    content_types = frozenset({OTLP})


def lines_with(constant: Mapping[str, str]) -> files.Lines[Push]:
    """Return what yields a push's lines, with the `constant` columns. It raises ValueError for an unreadable push."""

    def of(push: Push) -> Iterator[bytes | None]:
        try:
            yield from lines(push, constant)
        except (ValueError, PayloadError) as error:
            raise ValueError(f"a push of {push.info.client_id!r}: {error}") from error

    return of
