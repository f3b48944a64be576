"""kproxy.observe.logs, in processes of their own, because logging is set up once for a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from kproxy.observe.counters import LogCounters
from kproxy.observe.log_queue import MAX_LINES
from kproxy.observe.sampled_log import SampledLog


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


def test_the_level_changes() -> None:
    """Also of a logger that was used before, and of what libraries log."""
    code = """
from kproxy.observe.logs import set_level
log.debug('one'); log.info('two')
set_level('debug'); log.debug('three'); log.bind(a=1).debug('four')
set_level('error'); log.warning('five'); logging.getLogger('x').warning('six'); log.error('seven')
"""
    said = [json.loads(line)["event"] for line in run("info", "json", code).splitlines()]
    assert said == ["two", "three", "four", "seven"]


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


def lines_of(log: str) -> list[dict[str, object]]:
    """Return the JSON lines."""
    return [json.loads(line) for line in log.splitlines()]


def test_a_storm_is_sampled_and_summed() -> None:
    """10,000 clients that leave are told by a burst of lines, and a sum with their reason, number and top clients."""
    code = """
for n in range(10_000):
    log.info('connection ended', cluster='main', client=f'10.0.0.{n % 4}:{n}', reason='client_closed', node=1,
        detail=str(n))
log.info('connection ended', cluster='main', client='10.0.0.9:1', reason='drained')
"""
    found = lines_of(run("info", "json", code))
    written = [line for line in found if line["event"] == "connection ended" and line["reason"] == "client_closed"]
    assert 100 <= len(written) <= 110
    assert [line["detail"] for line in written[:100]] == [str(n) for n in range(100)]
    assert len([line for line in found if line.get("reason") == "drained"]) == 1
    (left_out,) = [line for line in found if line["event"] == "lines left out"]
    assert left_out["lines"] == 10_000 - len(written)
    assert (left_out["of"], left_out["cluster"], left_out["reason"], left_out["level"], left_out.get("node")) == (
        "connection ended",
        "main",
        "client_closed",
        "info",
        None,
    )
    clients = left_out["clients"]
    assert isinstance(clients, dict)
    assert len(clients) == 3
    assert all(2400 <= count <= 2500 for count in clients.values())


def test_faults_that_repeat_are_summed_by_node() -> None:
    """Of each node the first line is written, and one sum at the end with the newest detail, made safe."""
    code = """
import kproxy.observe.logs as logs
logs.hide(['s3cret-t0ken'])
for n in range(300):
    log.warning('connection ended', cluster='main', node=n % 2 or 'bootstrap', client=f'10.0.0.1:{n}',
        reason='connect_failed', detail=f'{n} s3cret-t0ken \\x1b')
log.warning('connection ended', cluster='main', node=0, client='10.0.0.1:1', reason='connect_failed')
log.warning('connection ended', cluster='main', node=0, client='10.0.0.1:1', reason='connect_failed')
"""
    found = lines_of(run("info", "json", code))
    assert [line["node"] for line in found if line["event"] == "connection ended"] == ["bootstrap", 1, 0]
    sums = {line["node"]: line for line in found if line["event"] == "lines left out"}
    assert {node: line["lines"] for node, line in sums.items()} == {"bootstrap": 149, 1: 149, 0: 1}
    assert [sums[node].get("detail") for node in ("bootstrap", 1, 0)] == [
        "298 ********** \\x1b",
        "299 ********** \\x1b",
        None,
    ]
    assert {(line["of"], line["cluster"], line["reason"], line["level"]) for line in sums.values()} == {
        ("connection ended", "main", "connect_failed", "warning")
    }
    assert sums[1]["clients"] == {"10.0.0.1": 149}


def test_a_sum_comes_while_it_runs() -> None:
    """It needs no further line, and no loop that runs: a thread writes it."""
    code = """
import kproxy.observe.log_sampling as sampling, io, time, kproxy.observe.logs as logs
sampling.SUM_SECONDS = 0.2
stream = io.StringIO()
configure('info', 'json', stream)
for n in range(150):
    log.info('connection ended')
deadline = time.monotonic() + 20
while 'lines left out' not in stream.getvalue() and time.monotonic() < deadline:
    pass
sys.stderr.write(stream.getvalue())
"""
    assert lines_of(run("info", "json", code))[100]["lines"] == 50


def test_a_sum_of_faults_comes_before_a_later_one() -> None:
    """Whichever is due first is written first: the thread does not wait for the time of the other."""
    code = """
import kproxy.observe.log_sampling as sampling, io, time, kproxy.observe.logs as logs
sampling.SUM_SECONDS, sampling.FAULT_SECONDS = 600.0, 0.2
stream = io.StringIO()
configure('info', 'json', stream)
for n in range(101):
    log.info('connection ended', reason='client_closed')
for n in range(3):
    log.warning('connection ended', reason='connect_failed')
deadline = time.monotonic() + 20
while 'lines left out' not in stream.getvalue() and time.monotonic() < deadline:
    pass
sys.stderr.write(stream.getvalue())
"""
    last = lines_of(run("info", "json", code))[-1]
    assert (last["reason"], last["lines"]) == ("connect_failed", 2)


def test_a_sum_is_not_dropped_with_other_lines() -> None:
    """A stderr that nobody reads has no room for ordinary lines any more: the sum at the end has some left."""
    read, write = os.pipe()
    counters = LogCounters()
    with open(write, "w") as stream:
        log = SampledLog(stream, counters, [lambda _, __, event: json.dumps(event)])
        fault = {"event": "connection ended", "cluster": "main", "node": 1, "reason": "connect_failed"}
        assert [log.admits("warning", fault) for _ in range(5)] == [True] + [False] * 4
        for _ in range(MAX_LINES):
            log.queue.put("x" * 100 + "\n")
        assert counters.dropped > 0
        log.close(0.0)
        with open(read) as reader, ThreadPoolExecutor(1) as pool:
            lines = pool.submit(reader.readlines)
            log.queue._thread.join(20)  # all is written, and its own descriptor closed
            stream.close()
            (left_out,) = [json.loads(line) for line in lines.result() if "lines left out" in line]
    assert (left_out["node"], left_out["lines"]) == (1, 4)


def test_a_clients_text_makes_no_kind() -> None:
    """A reason that is no `Reason`, as an error's text, does not tell lines apart: it has any number of forms."""
    code = "for n in range(1000): log.error('cannot deliver', reason=f'text {n}', client_id=str(n))"
    found = lines_of(run("info", "json", code))
    assert 100 <= len(found) - 1 <= 110
    assert found[-1]["lines"] == 1000 - len(found) + 1


def test_lines_of_libraries_are_sampled_by_their_logger() -> None:
    """Their text is not constant."""
    code = "for n in range(1000): logging.getLogger('lib').warning('number %d', n)"
    found = lines_of(run("info", "json", code))
    assert 100 <= len(found) - 1 <= 110
    assert found[-1]["of"] == "lib"


def test_secrets_are_hidden_wherever_they_turn_up() -> None:
    """In a value, an exception's text, a library's line and what is printed on stderr, in both forms."""
    code = """
import kproxy.observe.logs as logs
from kproxy.observe.counters import LogCounters
logs.hide(['Bearer s3cret-t0ken', 's3cret-t0ken'])
with logs.logging_to_stderr('info', %r, LogCounters()):
    log.warning('cannot deliver', error='the server says: s3cret-t0ken', url='https://u:pa55@c/?key=q6ery')
    try:
        raise ValueError('bad s3cret-t0ken at https://u:pa55@c/?key=q6ery')
    except ValueError:
        log.exception('delivery failed')
    logging.getLogger('lib').warning('s3cret-t0ken %%s', 'https://u:pa55@c/?key=q6ery')
    print('s3cret-t0ken', file=sys.stderr)
"""
    for form in ("json", "console"):
        log = run("info", form, code % form)
        assert log.count("**********") >= 8
        assert not [secret for secret in ("s3cret", "pa55", "q6ery") if secret in log]
        assert "ValueError: bad" in log


def test_a_name_that_is_also_a_secret_stays_readable() -> None:
    """A header may hold a tenant's name, which a virtual cluster has, too."""
    code = """
import kproxy.observe.logs as logs
logs.hide(['payments'])
log.info('cannot deliver', cluster='payments', to='payments', error='tenant payments is unknown')
"""
    (line,) = lines_of(run("info", "json", code))
    assert (line["cluster"], line["to"], line["error"]) == ("payments", "payments", "tenant ********** is unknown")


def test_a_traceback_is_bounded() -> None:
    """A group of a thousand exceptions leaves its head and its end."""
    code = """
errors = [ValueError('x' * 100 + str(n)) for n in range(1000)]
try:
    raise ExceptionGroup('many', errors[:500]) from ExceptionGroup('more', errors[500:])
except ExceptionGroup:
    log.exception('fault')
log.error('deep', exc_info=ValueError('y' * 100_000))
"""
    log = run("info", "json", code)
    assert all(len(line) < 80_000 for line in log.splitlines())
    assert "ValueError: yyyy" in log


def test_what_is_printed_on_stderr_takes_its_place_among_the_lines() -> None:
    """A warning of the interpreter and parts of lines, in order; afterwards stderr is what it was."""
    code = """
import warnings, kproxy.observe.logs as logs
from kproxy.observe.counters import LogCounters
before = sys.stderr
with logs.logging_to_stderr('info', 'json', LogCounters()):
    log.info('first')
    sys.stderr.write('a part, ')
    print('and its end', file=sys.stderr)
    warnings.warn('careful')
    log.info('last')
    assert (sys.stderr.isatty(), sys.stderr.fileno()) == (False, 2)
assert sys.stderr is before
print('after', file=sys.stderr)
"""
    first, part, warning, *_, last, after = run("info", "json", code).splitlines()
    assert (json.loads(first)["event"], part) == ("first", "a part, and its end")
    assert "careful" in warning
    assert (json.loads(last)["event"], after) == ("last", "after")


UNREAD = """
import os, sys, time
import structlog
import kproxy.observe.logs as logs
from kproxy.observe.counters import LogCounters
counters = LogCounters()
with logs.logging_to_stderr('info', 'json', counters):
    log = structlog.get_logger()
    for n in range(100_000):
        log.warning('event', n=n, reason='x' * 100)
        print('on stderr ' * 10, file=sys.stderr)
    print(counters.dropped > 10_000, flush=True)
    raise ZeroDivisionError if sys.argv[1] == 'crash' else SystemExit(3)
"""


@pytest.mark.parametrize(("how", "code"), [("crash", 1), ("exit", 3)])
def test_a_process_whose_stderr_nobody_reads_goes_on_and_ends(how: str, code: int) -> None:
    """Nothing waits for the reader: not the lines, not what is printed, not the traceback, not the exit."""
    with subprocess.Popen(
        [sys.executable, "-c", UNREAD, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "True\n"
            assert process.wait(timeout=30) == code
        finally:
            process.kill()


def test_a_crash_is_told() -> None:
    """The traceback of an exception that ends the process is whole on stderr, behind the lines before it."""
    code = """
import kproxy.observe.logs as logs
from kproxy.observe.counters import LogCounters
logs.hide(['s3cret-t0ken'])
with logs.logging_to_stderr('info', 'json', LogCounters()):
    structlog.get_logger().info('before')
    raise ZeroDivisionError('of s3cret-t0ken')
"""
    program = f"import structlog\n{code}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    before, head, *_, last = done.stderr.splitlines()
    assert json.loads(before)["event"] == "before"
    assert head == "Traceback (most recent call last):"
    assert last == "ZeroDivisionError: of **********"


def test_threads_log() -> None:
    """Lines of worker threads come out whole, also while the first thread stands still."""
    code = """
import threading, time
def watch():
    for n in range(50): log.warning('stands still', n=n)
    seen.set()
seen = threading.Event()
threads = [threading.Thread(target=watch) for _ in range(2)]
for thread in threads: thread.start()
seen.wait()
for thread in threads: thread.join()
"""
    assert sorted(str(line["n"]) for line in lines_of(run("info", "json", code))) == sorted(
        str(n) for n in range(50) for _ in range(2)
    )


def test_without_stderr() -> None:
    """A process that was started without one (`2>&-`) logs to nobody."""
    program = (
        "import kproxy.observe.logs as l, structlog; l.configure(); structlog.get_logger().info('x'); print('end')"
    )
    command = f'exec {sys.executable} -c "{program}" 2>&-'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "end\n")
