"""The pytest plugin `kproxy.testing` before brokers that want TLS and a certificate: the user's settings say so."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from tests.clients.test_pytest_plugin import PASSES, documented, outcomes, run
from tests.support.authority import Authority
from tests.support.secured import Secured

__all__ = ["documented"]
CONFTEST = """
import pytest


@pytest.fixture(scope="session")
def kproxy_config():
    return {{"upstream_tls": {{"ca": "{ca}", "certificate": "{certificate}"}}}}
"""


def test_the_documented_example_over_tls(documented: Path, strict: Secured, authority: Authority) -> None:
    """The application speaks plainly to kproxy, and kproxy by mTLS to the brokers; the example passes as ever."""
    admin = AdminClient({"bootstrap.servers": strict.plain, "log_level": 0})
    admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(30)
    shown = authority.signed("kproxy").both
    (documented / "conftest.py").write_text(CONFTEST.format(ca=authority.file, certificate=shown))
    done = run(documented, "--kproxy-bootstrap-servers", strict.bootstrap)
    assert done.returncode == PASSES, done.stdout
    assert list(outcomes(done).values()) == ["PASSED"] * 3
