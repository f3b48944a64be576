"""kproxy.observe.logs, in processes of their own, because logging is set up once for a process."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta


def run(level: str, form: str, code: str) -> str:
    """Return stderr of a Python process that configures logging and runs `code` with a logger `log`."""
    program = f"""
import logging, sys, structlog
from kproxy.observe.logs import configure
log = structlog.get_logger()
configure({level!r}, {form!r})
{code}
print("end")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "end\n", done.stderr
    return done.stderr


def test_json_lines_parse() -> None:
    """Each line is one JSON object with event, level and a UTC time; fields keep their types."""
    log = run("info", "json", "log.info('connection ended', reason='drained', bytes=3)\nlog.warning('slow')")
    first, second = (json.loads(line) for line in log.splitlines())
    assert first == {
        "event": "connection ended",
        "level": "info",
        "reason": "drained",
        "bytes": 3,
        "timestamp": first["timestamp"],
    }
    assert (second["event"], second["level"]) == ("slow", "warning")
    assert first["timestamp"].endswith("Z")
    assert datetime.now(UTC) - datetime.fromisoformat(first["timestamp"]) < timedelta(minutes=5)


def test_the_level_holds() -> None:
    """Lines below the level are not written; lines at the level are."""
    log = run("warning", "json", "log.info('quiet'); log.warning('heard'); log.error('heard too')")
    assert [json.loads(line)["event"] for line in log.splitlines()] == ["heard", "heard too"]
    assert "quiet" in run("debug", "console", "log.debug('quiet')")
    assert run("critical", "json", "log.error('quiet'); logging.getLogger('x').error('quiet')") == ""


def test_console_is_for_people() -> None:
    """Event and fields are on one plain line, without colours if there is no terminal."""
    [line] = run("info", "console", "log.info('listening', address='127.0.0.1:9092')").splitlines()
    assert "listening" in line
    assert "address=127.0.0.1:9092" in line
    assert "\x1b" not in line


def test_bytes_are_never_written() -> None:
    """For a payload that is logged by mistake, only the length is shown, at any depth."""
    code = "log.info('x', a=b'secret', b=memoryview(b'secret'), c=[bytearray(b'secret')])"
    for form in ("json", "console"):
        log = run("info", form, code.replace(", c=[bytearray(b'secret')]", "") if form == "console" else code)
        assert "secret" not in log
        assert "<6 bytes>" in log


def test_a_client_cannot_forge_lines() -> None:
    """Line ends and terminal codes in a client's text are escaped, in both forms, each by itself."""
    code = r"for c in '\n\r\x1b\x00\x85\u2028\u202e': log.info('x', client_id=f'a{c}forged')"
    for form in ("json", "console"):
        log = run("info", form, code)
        assert log.count("forged") == len(log.splitlines()) == 7
        assert all(line.isprintable() for line in log.splitlines())


def test_a_client_cannot_flood_the_log() -> None:
    """A client id of the greatest length is cut, and the line says so."""
    log = run("info", "json", "log.info('x', client_id='a' * 32767)")
    assert len(log) < 1000
    assert "(32767 characters)" in log


def test_exceptions_are_whole_and_on_one_line() -> None:
    """The complete traceback is in the field `exception`."""
    code = "try:\n    raise ValueError('boom')\nexcept ValueError:\n    log.exception('fault')"
    [line] = run("info", "json", code).splitlines()
    assert "Traceback" in json.loads(line)["exception"]
    assert json.loads(line)["exception"].endswith("ValueError: boom")
    assert "ValueError: boom" in run("info", "console", code)


def test_libraries_log_the_same_way() -> None:
    """A warning through the standard library becomes a JSON line; an info line does not."""
    code = "logging.getLogger('trio.serve').warning('out of %s', 'files'); logging.getLogger('x').info('quiet')"
    [line] = run("info", "json", code).splitlines()
    found = json.loads(line)
    assert (found["event"], found["logger"], found["level"]) == ("out of files", "trio.serve", "warning")


def test_configured_twice_writes_once() -> None:
    """A second configuration replaces the first one."""
    [line] = run("info", "json", "configure('info', 'json'); logging.getLogger('x').warning('once')").splitlines()
    assert json.loads(line)["event"] == "once"


def test_a_log_that_cannot_be_written_harms_nothing() -> None:
    """When stderr is closed or its disk is full, the program goes on."""
    assert run("info", "json", "sys.stderr.close(); log.info('lost')") == ""
    code = "configure('info', 'json', open('/dev/full', 'w', buffering=1)); log.info('lost'); import os"
    run("info", "json", code + "; sys.stdout.write('end\\n'); sys.stdout.flush(); os._exit(0)")
