"""The fixtures, options and hooks of the pytest plugin.

pytest calls them. All others import what they need inside, since pytest loads this module in every run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from kproxy.testing.injection import Kproxy

_SERVERS: Final = "kproxy_bootstrap_servers"
_TIMEOUT: Final = "kproxy_start_timeout"
_NO_SERVERS: Final = (
    "kproxy does not know where the test's Kafka is. Give --kproxy-bootstrap-servers host:port, or set "
    f"{_SERVERS} in the ini file, or define a fixture kafka_bootstrap_servers (scope='session') in conftest.py "
    "that returns host:port"
)
_RUNNING: Final = pytest.StashKey["Kproxy"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say where Kafka is, and how long kproxy may take to start."""
    where = "host:port of the Kafka that kproxy is put in front of, with commas"
    parser.getgroup("kproxy").addoption("--kproxy-bootstrap-servers", metavar="SERVERS", help=where)
    parser.addini(_SERVERS, where)
    parser.addini(_TIMEOUT, "seconds until kproxy must be ready", default="30")


@pytest.fixture(scope="session")
def kafka_bootstrap_servers(request: pytest.FixtureRequest) -> str | Sequence[str]:
    """Where the test's Kafka is: `host:port`, or a list. To be overridden where no option says it."""
    config = request.config
    servers: str = config.getoption("--kproxy-bootstrap-servers") or config.getini(_SERVERS)
    if not servers:
        pytest.fail(_NO_SERVERS, pytrace=False)
    return servers


@pytest.fixture(scope="session")
def kproxy_config() -> Mapping[str, Any]:
    """Settings of the virtual cluster, as in kproxy's file, e.g. `upstream_tls`. To be overridden."""
    return {}


@pytest.fixture(scope="session")
def kproxy(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    kafka_bootstrap_servers: str | Sequence[str],
    kproxy_config: Mapping[str, Any],
) -> Iterator[Kproxy]:
    """A kproxy process in front of the test's Kafka, one for the session, and for each worker of pytest-xdist.

    Its rules end with each test.
    """
    from kproxy.testing.injection import Kproxy  # noqa: PLC0415 - not in runs without kproxy
    from kproxy.testing.process import KproxyProcess, StartError, settings  # noqa: PLC0415

    directory = tmp_path_factory.mktemp("kproxy")
    process = KproxyProcess(directory, settings(kafka_bootstrap_servers, kproxy_config))
    try:
        running = Kproxy(process, process.start(float(request.config.getini(_TIMEOUT))))
        request.config.stash[_RUNNING] = running
        yield running
    except StartError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    finally:
        if _RUNNING in request.config.stash:
            del request.config.stash[_RUNNING]
        process.stop()


def _of(item: pytest.Item) -> Kproxy | None:
    """Return the running kproxy, where a test uses it: names it, or has rules by `request.getfixturevalue`."""
    running = item.config.stash.get(_RUNNING, None)
    return running if running is not None and (_names_it(item) or running.has_rules) else None


def _names_it(item: pytest.Item) -> bool:
    return "kproxy" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail at once where kproxy has ended; what it observes from now on is of this test."""
    if (kproxy := item.config.stash.get(_RUNNING, None)) is not None:
        if _names_it(item):
            _check(kproxy.begin_test)
        else:
            _try(kproxy.begin_test)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a test that passed while kproxy ended, or while one of its rules hit nothing."""
    result = yield
    if (kproxy := _of(item)) is not None:
        _check(kproxy.check_test)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Remove the test's rules before its fixtures end, so that the application can close as ever."""
    if (kproxy := _of(item)) is not None:
        kproxy.end_test()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the rules of a test that Ctrl-C or pytest.exit has ended: its fixtures end next."""
    if (kproxy := session.config.stash.get(_RUNNING, None)) is not None:
        kproxy.end_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show kproxy's log with each failed test that uses it."""
    report = yield
    if report.failed and (kproxy := _of(item)) is not None:
        report.sections.append(("kproxy log", kproxy.log_of_test()))
    return report


def _try(what: Any) -> None:
    from kproxy.errors import KproxyError  # noqa: PLC0415 - not in runs without kproxy

    with suppress(KproxyError):
        what()


def _check(what: Any) -> None:
    from kproxy.errors import KproxyError  # noqa: PLC0415 - not in runs without kproxy

    try:
        what()
    except KproxyError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
