"""kproxy.upstream.validity: from when until when kproxy's own certificates are valid."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.upstream.tls import own_validity
from kproxy.upstream.validity import Validity
from tests.support.authority import Authority

DAY = 86_400.0


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.mark.parametrize("of_server", [True, False])
@pytest.mark.parametrize(("name", "days"), [("valid", (0, 2)), ("ended", (-9, -2)), ("early", (1, 3))])
def test_both_moments(authority: Authority, name: str, days: tuple[int, int], of_server: bool) -> None:
    """Of a certificate that is valid, has ended, or is not valid yet, shown to clients or to brokers."""
    made = authority.signed(f"{name}-{of_server}", days=days)
    kind = ClientTls if of_server else UpstreamTls
    found = own_validity(kind(certificate=str(made.chain), key=str(made.key)), "tls", of_server=of_server)
    assert found is not None
    assert found.names == ("DNS:localhost", "IP Address:127.0.0.1")
    begins, ends = (moment - time.time() for moment in (found.begins, found.ends))
    assert begins == pytest.approx(days[0] * DAY, abs=60)
    assert ends == pytest.approx(days[1] * DAY, abs=60)


def test_a_key_with_a_password(authority: Authority, tmp_path: Path) -> None:
    """Its file has the password, as where the certificate is used."""
    made = authority.signed("secret", password="hidden")
    (tmp_path / "password").write_text("hidden\n")
    named: dict[str, Any] = {
        "certificate": str(made.chain),
        "key": str(made.key),
        "key_password_file": str(tmp_path / "password"),
    }
    assert own_validity(ClientTls(**named), "tls", of_server=True) is not None


def test_no_certificate() -> None:
    """kproxy shows brokers none."""
    assert own_validity(UpstreamTls(), "upstream_tls", of_server=False) is None


def test_a_certificate_for_the_other_side(authority: Authority) -> None:
    """What OpenSSL does not accept in this use is not known; whether brokers do is theirs to say."""
    made = authority.signed("servers", usage="serverAuth")
    named: dict[str, Any] = {"certificate": str(made.chain), "key": str(made.key)}
    assert own_validity(UpstreamTls(**named), "upstream_tls", of_server=False) is None
    assert own_validity(ClientTls(**named), "tls", of_server=True) is not None


@pytest.mark.parametrize(("days", "near"), [(1, 0.2), (10, 2), (70, 14), (365, 14)])
def test_the_end_is_near(days: float, near: float) -> None:
    """Within 14 days, or the last fifth of a certificate that is valid for a shorter time."""
    assert Validity(0.0, days * DAY).near == pytest.approx((days - near) * DAY)
