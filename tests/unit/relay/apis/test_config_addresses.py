"""What clients get in place of the values of configs that name hosts."""

from __future__ import annotations

import pytest

from kproxy.relay.apis.config_addresses import ENDINGS, NAMES, Shown, masked

SEVEN = Shown(7, ("proxy.example", 19099))
V6 = Shown(7, ("::1", 19099))
UNKNOWN = Shown(7, None)
NOBODY = Shown(None, None)
AT = "CLIENT://proxy.example:19099"


@pytest.mark.parametrize(
    ("name", "value", "broker", "shown"),
    [
        ("listeners", "CLIENT://10.0.0.7:9092", SEVEN, AT),
        ("advertised.listeners", "CLIENT://b7:9092, A-B_c.1://[fd00::7]:9093", SEVEN, f"{AT},A-B_c.1://proxy.example:19099"),
        ("advertised.listeners", "CLIENT://b7:9092", V6, "CLIENT://[::1]:19099"),
        ("listeners", "CLIENT://b7:9092,CONTROLLER://b7:9093", SEVEN, f"{AT},CONTROLLER://controller-7.invalid:9093"),
        ("listeners", "CLIENT://b7:9092", UNKNOWN, "CLIENT://broker-7.invalid:9092"),
        ("listeners", "A://b7:92,CONTROLLER://b7:1", NOBODY, "A://masked.invalid:92,CONTROLLER://controller.invalid:1"),
        ("listeners", "A://:9092,B://0.0.0.0:1,C://[::]:2", SEVEN, "A://:9092,B://0.0.0.0:1,C://[::]:2"),
        ("listeners", "b7:9092", SEVEN, "masked.invalid"),
        ("listeners", "CLIENT://b7", SEVEN, "masked.invalid"),
        ("listeners", "[CLIENT://b7:1]", SEVEN, "masked.invalid"),
        ("listeners", "CLIENT://b7\n:9092", SEVEN, "masked.invalid"),
        ("listener.name.client.listeners", "CLIENT://b7:9092", SEVEN, AT),
        ("vendor.advertised.listeners", "CLIENT://b7:9092", SEVEN, AT),
        ("controller.quorum.voters", "1@c:3,2@[fd00::2]:5", SEVEN, "1@controller-1.invalid:3,2@controller-2.invalid:5"),
        ("controller.quorum.voters", "c1:9093", SEVEN, "masked.invalid"),
        ("controller.quorum.bootstrap.servers", "c1:9,[fd00::2]:4", SEVEN, "controller.invalid:9,controller.invalid:4"),
        ("bootstrap.servers", "b7:9092,b8", SEVEN, "masked.invalid:9092,masked.invalid"),
        ("reporter.bootstrap.servers", "b7:9092", SEVEN, "masked.invalid:9092"),
        ("zookeeper.connect", "z1:2181,z2:2181/kafka/b", SEVEN, "zookeeper.invalid:2181,zookeeper.invalid:2181"),
        ("host.name", "b7", SEVEN, "proxy.example"),
        ("advertised.host.name", "b7", UNKNOWN, "broker-7.invalid"),
        ("host.name", "b7", NOBODY, "masked.invalid"),
        ("port", "9092", SEVEN, "19099"),
        ("advertised.port", "9092", UNKNOWN, "9092"),
    ],
)  # fmt: skip
def test_values(name: str, value: str, broker: Shown, shown: str) -> None:
    """A broker's listeners are kproxy's; other hosts resolve nowhere; what cannot be read is masked altogether."""
    assert masked(name, name, value, broker) == shown
    assert name.encode() in NAMES or name.encode().endswith(ENDINGS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("early.start.listeners", "CONTROLLER"),
        ("controller.listener.names", "CONTROLLER"),
        ("listener.security.protocol.map", "CLIENT:PLAINTEXT"),
        ("inter.broker.listener.name", "CLIENT"),
        ("some.port", "9092"),
    ],
)
def test_values_that_name_no_host(name: str, value: str) -> None:
    """They stay."""
    assert masked(name, name, value, SEVEN) == value


def test_a_synonym_of_another_name() -> None:
    """Its own name decides how it is masked, else the config's."""
    assert masked("advertised.listeners", "host.name", "b7", SEVEN) == "proxy.example"
    assert masked("advertised.listeners", "other", "CLIENT://b7:1", SEVEN) == AT


def test_controllers_have_the_names_that_the_broker_gives_them() -> None:
    """Here QUORUM, so CONTROLLER is any other listener's name."""
    broker = SEVEN._replace(controllers=("QUORUM",))
    value = "CONTROLLER://b7:9092,QUORUM://b7:9093"
    assert masked("listeners", "listeners", value, broker) == (
        "CONTROLLER://proxy.example:19099,QUORUM://controller-7.invalid:9093"
    )
