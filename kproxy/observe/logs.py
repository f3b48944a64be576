"""Configures structlog: one line an event on stderr, JSON or console, UTC; bounded, without payloads and secrets.

kproxy.app.run calls `logging_to_stderr` once, when kproxy starts, and `hide` with what no line may show. Every thread
may log. No line waits for a reader, and a client cannot fill the log: see `LogQueue` and `Sampling`.
"""

from __future__ import annotations

import atexit
import io
import json
import logging
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Literal, TextIO, TypeAlias

import structlog

from kproxy.observe.counters import LogCounters
from kproxy.observe.log_queue import LogQueue
from kproxy.observe.masking import Secrets, mask_urls, printable
from kproxy.observe.sampled_log import LEVELS, SampledLog

Format: TypeAlias = Literal["json", "console"]
Level: TypeAlias = Literal["debug", "info", "warning", "error", "critical"]
_Event: TypeAlias = MutableMapping[str, Any]

MAX_VALUE: Final = 512  # characters of one value: a client id may have 32,767
MAX_TRACEBACK: Final = 32 * 2**10
"""Characters of a traceback; one of many nested groups would have more."""
LAST_LINES_SECONDS: Final = 2.0
"""How long kproxy waits at its end for queued lines to be written."""

_NAMES_OF_OURS: Final = frozenset({"cluster", "node", "upstream", "to", "of", "name", "table"})
"""Fields whose values are names of the configuration: one may be the same word as a header's value, a tenant's name."""

_secrets = Secrets()  # logging is set up once for a process, and so is what it hides


def hide(secrets: Iterable[str]) -> None:
    """Show none of these values in any line from now on."""
    _secrets.add(secrets)


def hidden(text: str) -> str:
    """Return the text without secrets. For what is cut before it is logged: a half of a secret is not found."""
    return _secrets.hide(text)


def _safe(value: object, key: str = "") -> object:
    if isinstance(value, str):
        shown = printable(mask_urls(value) if key in _NAMES_OF_OURS else _secrets.hide(value))
        return shown if len(shown) <= MAX_VALUE else f"{shown[:MAX_VALUE]}... ({len(value)} characters)"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"  # payloads of clients and brokers are never logged
    return value


def _bounded(_logger: object, _method: str, event: _Event) -> _Event:
    """Make every value safe: none can break the line, colour the terminal, fill the disk, or carry a payload or secret.

    kproxy's own events are constant text; those of libraries, which have a `logger`, are not.
    """
    for key, value in event.items():
        if key != "event" or "logger" in event:
            event[key] = _safe(value, key)
    return event


def _safe_traceback(_logger: object, _method: str, event: _Event) -> _Event:
    if "exception" in event:
        event["exception"] = _cut(_secrets.hide(str(event["exception"])))
    return event


def _cut(text: str) -> str:
    """Return the text without its middle, if it is too long: a traceback says at both ends what happened."""
    half = MAX_TRACEBACK // 2
    return text if len(text) <= 2 * half else f"{text[:half]}\n... ({len(text)} characters)\n{text[-half:]}"


_log: SampledLog | None = None  # one for a process, as structlog's configuration is


def _sampled(_logger: object, method: str, event: _Event) -> _Event:
    if _log is not None and not _log.admits(method, event):
        raise structlog.DropEvent
    return event


class _Lines:
    """Queues a line at a time; errors may use the last of the queue's room."""

    def msg(self, message: str) -> None:
        if _log is not None:
            _log.queue.put(message + "\n")

    def error(self, message: str) -> None:
        if _log is not None:
            _log.queue.put(message + "\n", urgent=True)

    debug = info = warning = msg
    critical = exception = error


class _Forward(logging.Handler):
    """Passes on to structlog what libraries log through the standard library, as Trio's listeners do."""

    def emit(self, record: logging.LogRecord) -> None:
        log = structlog.get_logger()
        log.log(record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info)


def _forward_standard_logging() -> None:
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _Forward)]:
        root.removeHandler(handler)
    root.addHandler(_Forward())


class _Logger(structlog.make_filtering_bound_logger(logging.NOTSET)):  # type: ignore[misc]
    """The class of all loggers, which `set_level` changes: loggers keep the class that they began with."""


def set_level(level: Level) -> None:
    """Log what is at least so severe from now on, at loggers that are in use as well."""
    filtering = structlog.make_filtering_bound_logger(LEVELS[level])
    for name, method in vars(filtering).items():
        if not name.startswith("__"):
            setattr(_Logger, name, method)
    logging.getLogger().setLevel(max(LEVELS[level], logging.WARNING))


def _to_json(event: _Event, **_: object) -> str:
    return json.dumps(event, default=lambda value: str(_safe(value)), separators=(",", ":"))


def _renderers(form: Format, stream: TextIO | None) -> list[structlog.types.Processor]:
    return [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _safe_traceback,
        structlog.processors.JSONRenderer(serializer=_to_json) if form == "json" else _console(stream),
    ]


def _console(stream: TextIO | None) -> structlog.types.Processor:
    colors = stream is not None and stream.isatty()
    return structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)


def configure(
    level: Level = "info",
    form: Format = "json",
    stream: TextIO | None = None,
    *,
    counters: LogCounters | None = None,
) -> None:
    """Set up logging for the process, before the first line; `stream` is stderr by default.

    At the process's end what is queued is written.
    """
    global _log  # noqa: PLW0603 - one for a process, as structlog's configuration is
    stream = sys.stderr if stream is None else stream
    finish()
    renderers = [_bounded, *_renderers(form, stream)]
    _log = SampledLog(stream, LogCounters() if counters is None else counters, renderers)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,  # the context of a task: contextvars follow Trio's tasks
            _sampled,
            *renderers,
        ],
        wrapper_class=_Logger,
        logger_factory=lambda *_: _Lines(),
        cache_logger_on_first_use=True,
    )
    _forward_standard_logging()
    set_level(level)


def finish(seconds: float = LAST_LINES_SECONDS) -> None:
    """Write what is queued, and wait at most this long for a reader; there is no log any more."""
    global _log
    closing, _log = _log, None
    if closing is not None:
        closing.close(seconds)


atexit.register(finish)


class _Stderr(io.TextIOBase):
    """Takes the place of `sys.stderr`: what is printed there, as the interpreter's warnings, waits for no reader."""

    def __init__(self, stream: TextIO, log: SampledLog) -> None:
        self._stream, self._log = stream, log
        self._part = ""
        self._lock = threading.RLock()

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._part = (self._part + text).split("\n")
            if len(self._part) > MAX_TRACEBACK:
                lines, self._part = [*lines, self._part], ""
            for line in lines:
                self._log.queue.put(_secrets.hide(line) + "\n", urgent=True)
        return len(text)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()


@contextmanager
def logging_to_stderr(level: Level, form: Format, counters: LogCounters) -> Iterator[None]:
    """Log to stderr during the block, and queue what else is printed there; then write what is queued.

    An exception that leaves the block ends kproxy. Its traceback waits no longer than that for a reader, too.
    """
    stderr = sys.stderr
    configure(level, form, stderr, counters=counters)
    assert _log is not None
    if stderr is not None:
        sys.stderr = _Stderr(stderr, _log)
    try:
        yield
    except BaseException:
        sys.excepthook = _last_words
        raise
    finally:
        sys.stderr = stderr
        finish()


def _last_words(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an uncaught exception on stderr, as Python does, but wait only `LAST_LINES_SECONDS` for a reader."""
    text = "".join(traceback.format_exception(kind, error, trace))
    queue = LogQueue(sys.stderr, LogCounters(), notice=str)
    queue.put(_cut(_secrets.hide(text)), urgent=True)
    queue.close(LAST_LINES_SECONDS)
