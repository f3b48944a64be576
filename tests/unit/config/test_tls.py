"""kproxy.config.tls: settings of TLS to clients and to brokers, where they hold, and what a reload makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from kproxy.config import Config, ConfigProblems, load
from kproxy.config.plan import notes
from kproxy.config.reload import Changes, changes
from kproxy.config.tls import ClientTls, UpstreamTls
from tests.unit.config.problems import problems_of

CERTIFICATE = {"certificate": "c.pem"}
ANY_HOST, ANY = {"dangerously_accept_any_host_name": True}, {"dangerously_accept_any_certificate": True}


def cluster(**changed: Any) -> dict[str, Any]:
    """Return a virtual cluster as YAML yields it."""
    return {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:9000"} | changed


def config(**changed: Any) -> Config:
    """Return a configuration with this virtual cluster."""
    return Config.model_validate({"clusters": [cluster(**changed)]})


def upstream(name: str, tls: Any = None) -> dict[str, Any]:
    """Return an upstream as YAML yields it."""
    return {"name": name, "bootstrap_servers": f"{name}:1"} | ({} if tls is None else {"tls": tls})


@pytest.mark.parametrize(
    ("model", "data", "problem"),
    [
        (ClientTls, {}, "certificate: is required"),
        (ClientTls, {"certificate": ""}, "certificate: is empty: name a file"),
        (ClientTls, {"certificate": None}, "certificate: "),
        (ClientTls, CERTIFICATE | {"key": ""}, "key: is empty: name a file"),
        (ClientTls, CERTIFICATE | {"key_password_file": ""}, "key_password_file: is empty: name a file"),
        (ClientTls, CERTIFICATE | {"client_ca": ""}, "client_ca: is empty: name a file"),
        (
            ClientTls,
            CERTIFICATE | {"min_version": "TLSv1.1"},
            "min_version: must be 'TLSv1.2' or 'TLSv1.3'",
        ),
        (ClientTls, CERTIFICATE | {"min_version": 1.2}, "min_version: must be 'TLSv1.2' or 'TLSv1.3', not 1.2"),
        (ClientTls, CERTIFICATE | {"ca": "ca.pem"}, "ca: is no setting"),
        (ClientTls, CERTIFICATE | ANY, "dangerously_accept_any_certificate: is no setting"),
        (UpstreamTls, {"key": "k.pem"}, "key: needs a certificate"),
        (UpstreamTls, {"key_password_file": "p"}, "key_password_file: needs a certificate"),
        (UpstreamTls, {"ca": ""}, "ca: is empty: name a file"),
        (UpstreamTls, {"server_name": ""}, "server_name: "),
        (UpstreamTls, {"server_name": "kafka:9093"}, "server_name: "),
        (UpstreamTls, {"client_ca": "ca.pem"}, "client_ca: is no setting"),
        (UpstreamTls, {"dangerously_accept_any_host_name": "maybe"}, "dangerously_accept_any_host_name: must be true"),
        (UpstreamTls, {"dangerously_accept_any_certificate": []}, "dangerously_accept_any_certificate: must be true"),
    ],
)
def test_bad_values(model: type[BaseModel], data: Any, problem: str) -> None:
    """Each mistake has one line, at its key."""
    (line,) = problems_of(model, data)
    assert line.startswith(problem)


def test_every_setting_that_lacks_a_certificate_is_named() -> None:
    """Two settings without a certificate are two problems."""
    lines = problems_of(UpstreamTls, {"key": "k.pem", "key_password_file": "p"})
    assert lines == ["key: needs a certificate", "key_password_file: needs a certificate"]


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_versions(version: str) -> None:
    """They are spelled as in Kafka's own settings."""
    assert ClientTls.model_validate(CERTIFICATE | {"min_version": version}).min_version == version
    assert UpstreamTls.model_validate({"min_version": version}).min_version == version


def test_the_defaults_are_safe() -> None:
    """TLS 1.2 is the lowest, nothing dangerous is on, and clients need no certificate."""
    own = {"key": None, "key_password_file": None, "min_version": "TLSv1.2"}
    assert ClientTls.model_validate(CERTIFICATE).model_dump() == CERTIFICATE | own | {"client_ca": None}
    trust = {"certificate": None, "ca": None, "server_name": None}
    dangers = dict.fromkeys(("dangerously_accept_any_host_name", "dangerously_accept_any_certificate"), False)
    assert UpstreamTls().model_dump() == own | trust | dangers


def test_without_settings_everything_is_plaintext() -> None:
    """Neither side has TLS by default."""
    (made,) = config().clusters
    assert (made.tls, made.upstream_tls, made.backends[0].tls) == (None, None, None)


def test_an_empty_group_is_tls_to_brokers() -> None:
    """`upstream_tls: {}` is not the same as none: the system's authorities are trusted."""
    (backend,) = config(upstream_tls={}).clusters[0].backends
    assert (backend.name, backend.tls) == ("main", UpstreamTls())


def test_an_upstream_overrides_the_virtual_cluster() -> None:
    """An upstream's own settings replace those of the virtual cluster as a whole, `{}` too; the others inherit them."""
    upstreams = [upstream("east"), upstream("west", {"server_name": "w"}), upstream("north", {})]
    common = {"ca": "ca.pem", "server_name": "k"}
    made = config(bootstrap_servers="", upstreams=upstreams, upstream_tls=common).clusters[0].backends
    assert [one.tls for one in made] == [
        UpstreamTls.model_validate(common),
        UpstreamTls.model_validate({"server_name": "w"}),
        UpstreamTls(),
    ]


def test_one_upstream_alone_has_tls() -> None:
    """The virtual cluster need not have settings for an upstream to have them."""
    made = config(bootstrap_servers="", upstreams=[upstream("east"), upstream("west", {})]).clusters[0].backends
    assert [one.tls for one in made] == [None, UpstreamTls()]


def test_variables_of_the_only_virtual_cluster() -> None:
    """Every setting of both groups can be a variable; numbers and flags are read as in YAML."""
    environ = {
        "KPROXY_BOOTSTRAP_SERVERS": "a:1",
        "KPROXY_LISTEN": "h:9000",
        "KPROXY_TLS__CERTIFICATE": "c.pem",
        "KPROXY_TLS__KEY": "k.pem",
        "KPROXY_TLS__KEY_PASSWORD_FILE": "p",
        "KPROXY_TLS__CLIENT_CA": "clients.pem",
        "KPROXY_TLS__MIN_VERSION": "TLSv1.3",
        "KPROXY_UPSTREAM_TLS__CA": "ca.pem",
        "KPROXY_UPSTREAM_TLS__SERVER_NAME": "kafka",
        "KPROXY_UPSTREAM_TLS__DANGEROUSLY_ACCEPT_ANY_HOST_NAME": "true",
        "KPROXY_TIMEOUTS__TLS_HANDSHAKE": "3s",
    }
    made = load(None, {}, environ)
    files = {"certificate": "c.pem", "key": "k.pem", "key_password_file": "p", "client_ca": "clients.pem"}
    assert made.clusters[0].tls == ClientTls.model_validate(files | {"min_version": "TLSv1.3"})
    to_brokers = {"ca": "ca.pem", "server_name": "kafka"} | ANY_HOST
    assert made.clusters[0].backends[0].tls == UpstreamTls.model_validate(to_brokers)
    assert made.timeouts.tls_handshake == 3


def test_a_bad_variable_is_named() -> None:
    """The line has the variable's name, which is what must be corrected."""
    settings = {"KPROXY_BOOTSTRAP_SERVERS": "a:1", "KPROXY_LISTEN": "h:9000", "KPROXY_UPSTREAM_TLS__KEY": "k.pem"}
    with pytest.raises(ConfigProblems) as caught:
        load(None, {}, settings)
    lines = str(caught.value).splitlines()
    assert any("KPROXY_UPSTREAM_TLS__KEY" in line and "needs a certificate" in line for line in lines), lines


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (None, None),
        ({}, None),
        (ANY_HOST, "accepts any host name: whoever has a certificate of a trusted authority can pose as a broker"),
        (ANY, "accepts any certificate: whoever is on the way can read and change everything"),
        (ANY | ANY_HOST, "accepts any certificate: whoever is on the way can read and change everything"),
    ],
)
def test_notes_of_dangers(settings: Any, line: str | None) -> None:
    """There is one line for an upstream, with the worse of the two dangers; safe settings have none."""
    expected = [] if line is None else [f"clusters.orders.main.tls: {line}"]
    assert list(notes(config(upstream_tls=settings))) == expected


def test_notes_name_the_upstream() -> None:
    """Only the upstream that is in danger is named, though another one inherits safe settings."""
    made = config(bootstrap_servers="", upstreams=[upstream("east"), upstream("west", ANY)], upstream_tls={})
    (line,) = notes(made)
    assert line.startswith("clusters.orders.west.tls: accepts any certificate")


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        (None, CERTIFICATE, {"tls"}),
        (CERTIFICATE, None, {"tls"}),
        (CERTIFICATE, {"certificate": "d.pem"}, {"tls.certificate"}),
        (
            CERTIFICATE,
            CERTIFICATE | {"client_ca": "ca.pem", "min_version": "TLSv1.3"},
            {"tls.client_ca", "tls.min_version"},
        ),
    ],
)
def test_tls_to_clients_applies_at_a_reload(old: Any, new: Any, keys: set[str]) -> None:
    """Every part of it, and TLS as a whole, can be switched on, changed and switched off."""
    assert changes(config(tls=old), config(tls=new)) == Changes(clusters={"orders": frozenset(keys)})


@pytest.mark.parametrize(("old", "new"), [(None, {}), ({}, None), ({}, {"ca": "ca.pem"}), ({}, ANY)])
def test_tls_to_brokers_is_a_change_of_upstreams(old: Any, new: Any) -> None:
    """A reload then makes new upstreams, and nothing else is listed."""
    expected = Changes(clusters={"orders": frozenset({"upstreams"})})
    assert changes(config(upstream_tls=old), config(upstream_tls=new)) == expected


def test_tls_written_elsewhere_is_no_change() -> None:
    """Settings of every upstream, or of the virtual cluster for them, are the same."""
    inherited = config(bootstrap_servers="", upstreams=[upstream("east")], upstream_tls={"ca": "ca.pem"})
    own = config(bootstrap_servers="", upstreams=[upstream("east", {"ca": "ca.pem"})])
    assert not changes(inherited, own)
