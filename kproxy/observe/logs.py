"""Configures structlog: one line an event on stderr, JSON or console, UTC; lines are bounded, without payloads.

kproxy.app.run calls `configure` once, when kproxy starts.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Final, Literal, TextIO, TypeAlias

import structlog

Format: TypeAlias = Literal["json", "console"]
Level: TypeAlias = Literal["debug", "info", "warning", "error", "critical"]

MAX_VALUE: Final = 512  # characters of one value: a client id may have 32,767

_LEVELS: Final[dict[Level, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}


def _safe(value: object) -> object:
    if isinstance(value, str):
        shown = value if value.isprintable() else value.encode("unicode_escape").decode("ascii")
        return shown if len(shown) <= MAX_VALUE else f"{shown[:MAX_VALUE]}... ({len(value)} characters)"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"  # payloads of clients and brokers are never logged
    return value


def _bounded(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Make every value safe: none can break the line, colour the terminal, fill the disk or carry a payload."""
    for key, value in event.items():
        event[key] = _safe(value)
    return event


class _Lines:
    """Writes a line at a time. It ignores a failing write (disk full, pipe closed), which must end no connection."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def msg(self, message: str) -> None:
        try:
            self._stream.write(message + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream is closed
            pass

    debug = info = warning = error = critical = exception = msg


class _Forward(logging.Handler):
    """Passes on to structlog what libraries log through the standard library, as Trio's listeners do."""

    def emit(self, record: logging.LogRecord) -> None:
        log = structlog.get_logger()
        log.log(record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info)


def _forward_standard_logging(level: int) -> None:
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _Forward)]:
        root.removeHandler(handler)
    root.addHandler(_Forward())
    root.setLevel(max(level, logging.WARNING))


def _to_json(event: MutableMapping[str, Any], **_: object) -> str:
    return json.dumps(event, default=lambda value: str(_safe(value)), separators=(",", ":"))


def _renderers(form: Format, stream: TextIO) -> list[structlog.types.Processor]:
    if form == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_to_json)]
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=plain)]


def configure(level: Level = "info", form: Format = "json", stream: TextIO | None = None) -> None:
    """Set up logging for the process, once, before the first line; `stream` is stderr by default."""
    stream = sys.stderr if stream is None else stream
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,  # the context of a task: contextvars follow Trio's tasks
            _bounded,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *_renderers(form, stream),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *_: _Lines(stream),
        cache_logger_on_first_use=True,
    )
    _forward_standard_logging(_LEVELS[level])
