"""The pytest plugin `kproxy.testing`, by a real pytest that runs an application's tests on a real Kafka."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import tests
from tests.support import faulty_suite, fixture_suite
from tests.support.backend import Backend

PAGE = Path(tests.__file__).parents[1] / "docs" / "testing.md"
PASSES, FAILS = 0, 1


@pytest.fixture(scope="module")
def servers(newest_kafka: Backend) -> Iterator[str]:
    """Where Kafka is, with the application's topic."""
    topic = newest_kafka.topic(1, 1, name="orders")
    yield newest_kafka.cluster.bootstrap
    newest_kafka.forget(topic)


def run(directory: Path, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run pytest as a user does, away from this repository's settings.

    Without its short summary, which has each message a second time when the environment says CI.
    """
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:trio", "-v", "-rN", *arguments]
    return subprocess.run(
        command, cwd=directory, env=env, capture_output=True, text=True, timeout=240, check=False, process_group=0
    )


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What became of each test."""
    return dict(re.findall(r"::(\w+) (PASSED|FAILED|ERROR)", done.stdout))


@pytest.fixture
def documented(tmp_path: Path) -> Path:
    """A directory with the example of docs/testing.md in it."""
    example = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    (tmp_path / "test_orders.py").write_text(example)
    return tmp_path


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    """A directory with the tests that fail."""
    shutil.copy(faulty_suite.__file__, tmp_path / "test_faulty.py")
    return tmp_path


def test_the_documented_example(documented: Path, servers: str) -> None:
    """It passes, with the address from the command line."""
    done = run(documented, "--kproxy-bootstrap-servers", servers)
    assert done.returncode == PASSES, done.stdout
    assert list(outcomes(done).values()) == ["PASSED"] * 3


def test_beside_each_other(documented: Path, servers: str) -> None:
    """Two workers of pytest-xdist have a kproxy each, with the address from a fixture, and the plugin named again."""
    fixture = f"@pytest.fixture(scope='session')\ndef kafka_bootstrap_servers():\n    return ['{servers}']\n"
    (documented / "conftest.py").write_text(f"import pytest\n\npytest_plugins = ['kproxy.testing']\n\n\n{fixture}")
    done = run(documented, "-n", "2")
    assert done.returncode == PASSES, done.stdout
    assert len(set(re.findall(r"\[(gw\d)\].* PASSED", done.stdout))) == 2


def test_without_an_address(documented: Path) -> None:
    """Each test has an error that says what to do."""
    done = run(documented)
    assert done.returncode == FAILS
    assert "kproxy does not know where the test's Kafka is. Give --kproxy-bootstrap-servers host:port" in done.stdout
    assert set(outcomes(done).values()) == {"ERROR"}


def test_without_a_kafka(documented: Path) -> None:
    """An address where nothing listens, from the ini file: the error has kproxy's log, which says so."""
    (documented / "pytest.ini").write_text(
        "[pytest]\nkproxy_bootstrap_servers = 127.0.0.1:1\nkproxy_start_timeout = 15\n"
    )
    done = run(documented, "-x")
    assert done.returncode == FAILS
    assert "kproxy is not ready after 15 s" in done.stdout
    assert "127.0.0.1:1: cannot connect: connection refused" in done.stdout


def test_a_wrong_setting(faulty: Path, servers: str) -> None:
    """kproxy does not start, and the error is the line that kproxy says."""
    done = run(faulty, "--kproxy-bootstrap-servers", servers, "-x", env={"WRONG_SETTING": "1"})
    assert done.returncode == FAILS
    assert done.stdout.count("kproxy did not start, exit code 2:\n") == 1
    assert "clusters.0.topology: is no setting" in done.stdout


def test_failures(faulty: Path, servers: str) -> None:
    """Each kind fails with a message that says what to do, and the tests behind it are not disturbed."""
    done = run(faulty, "--kproxy-bootstrap-servers", servers, "-k", "not ends and not behind")
    assert outcomes(done) == {
        "test_a_wrong_name": "FAILED",
        "test_an_unused_rule": "FAILED",
        "test_a_rule_that_nobody_looks_at": "FAILED",
        "test_too_few_hits": "FAILED",
        "test_the_application": "FAILED",
        "test_rules_are_gone": "PASSED",
    }
    for words in (
        "error: 'NOT_LEADER' is no error of Kafka, but NOT_LEADER_OR_FOLLOWER is",
        "the rule NOT_LEADER_OR_FOLLOWER of Produce, client_id=payments has hit no request, so the test has shown "
        "nothing (allow_unused=True permits it); requests since the test began: ApiVersions",
        "the rule delay of 1 s of Fetch has hit no request, so the test has shown nothing (allow_unused=True permits "
        "it); no request has come through kproxy",
        "the rule close of Produce has hit 1 of 2 requests in 0.5 s",
        "kproxy log",
        "info fault injected cluster=kafka client=",
    ):
        assert words in done.stdout, done.stdout


def test_rules_of_fixtures(tmp_path: Path, servers: str) -> None:
    """A rule of a fixture ends with the test, and its hits stay; one that is taken by a name alone ends as well."""
    shutil.copy(fixture_suite.__file__, tmp_path / "test_fixtures.py")
    done = run(tmp_path, "--kproxy-bootstrap-servers", servers, "-k", "not interrupted")
    assert outcomes(done) == {
        "test_in_a_fixture": "PASSED",
        "test_unused_by_its_name_alone": "FAILED",
        "test_used_by_its_name_alone": "PASSED",
        "test_none_is_left": "PASSED",
    }, done.stdout
    assert done.stdout.count("so the test has shown nothing") == 1


def test_an_interrupted_run(tmp_path: Path, servers: str) -> None:
    """Ctrl-C, which the whole process group gets: the application closes without faults, and kproxy is still there."""
    shutil.copy(fixture_suite.__file__, tmp_path / "test_fixtures.py")
    done = run(tmp_path, "--kproxy-bootstrap-servers", servers, "-k", "interrupted")
    assert "KeyboardInterrupt" in done.stdout
    assert (tmp_path / "left").read_text() == "[] ready", done.stdout


def test_an_http_proxy_of_the_environment(documented: Path, servers: str) -> None:
    """kproxy is on this machine, and asked without one."""
    done = run(documented, "--kproxy-bootstrap-servers", servers, env={"http_proxy": "http://127.0.0.1:1"})
    assert done.returncode == PASSES, done.stdout


def test_kproxy_ended(faulty: Path, servers: str) -> None:
    """The test in which it ends fails, and so does each later one, with its exit code and its log."""
    done = run(faulty, "--kproxy-bootstrap-servers", servers, "-k", "ends or behind")
    assert outcomes(done) == {"test_kproxy_ends": "FAILED", "test_behind_the_end": "ERROR"}
    assert done.stdout.count("kproxy has ended, exit code -9; its log ends:") >= 2


def test_no_process_is_left(faulty: Path, servers: str) -> None:
    """kproxy ends with its session: the child that a run has had is gone behind it."""
    done = run(faulty, "--kproxy-bootstrap-servers", servers, "-k", "gone", "--basetemp", str(faulty / "base"))
    assert done.returncode == PASSES, done.stdout
    (log,) = (faulty / "base").rglob("kproxy.log")
    assert '"event":"stopped"' in log.read_text()
