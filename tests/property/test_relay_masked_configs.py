"""DescribeConfigs responses of any content: no planted host comes through, and nothing else changes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kproxy.wire.config_values import ConfigValue, ConfigValues, replaced
from tests.property import wire_contents as contents
from tests.support.violation import never
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, by

KEY, BROKER = 32, 4
PLANTED = ("planted-host", "10.66.66.66", "fd66::66")
NAMES = (
    "advertised.listeners",
    "listeners",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
    "bootstrap.servers",
    "zookeeper.connect",
    "advertised.host.name",
    "host.name",
    "listener.name.client.advertised.listeners",
    "vendor.reporter.bootstrap.servers",
)
_FORMS = (
    "{}",
    "{}:9092",
    "[{}]:9092",
    "A://{}:9092",
    "CONTROLLER://{}:9093",
    "1@{}:9093",
    "{}:2181/chroot",
    "A://b:{}",
)
_VALUES = st.lists(st.tuples(st.sampled_from(_FORMS), st.sampled_from(PLANTED)), min_size=1, max_size=3).map(
    lambda parts: ",".join(form.format(host) for form, host in parts)
)
_VERSIONS = st.sampled_from(list(frames.versions(KEY)))
_STEPS = st.sampled_from([1, 7, 64, 1000, 100_000])


@st.composite
def planted(draw: st.DrawFn, version: int) -> contents.Content:
    """Draw a response in which some configs and synonyms name a planted host."""
    content = draw(contents.contents(KEY, version))
    content["Results"] = [*content["Results"], *draw(contents.contents(KEY, version))["Results"]]
    for result in content["Results"]:
        result["ResourceType"], result["ResourceName"] = BROKER, draw(st.sampled_from(["7", "8", "", "x"]))
        for config in result["Configs"]:
            if draw(st.booleans()):
                config["Name"], config["Value"] = draw(st.sampled_from(NAMES)), draw(_VALUES)
                for synonym in synonyms_of(config):
                    synonym["Value"] = draw(_VALUES)
    return content


def synonyms_of(config: contents.Content) -> list[contents.Content]:
    """They are there from v1 on."""
    found: list[contents.Content] = config.get("Synonyms", [])
    return found


def without_addresses(content: Any) -> Any:
    """A response without the values that may change."""
    results = [
        {
            **result,
            "Configs": [
                config
                if config["Name"] not in NAMES
                else {**config, "Value": None, "Synonyms": [{**one, "Value": None} for one in synonyms_of(config)]}
                for config in result["Configs"]
            ],
        }
        for result in content["Results"]
    ]
    return {**content, "Results": results}


def relayed(version: int, sent: bytes, step: int) -> bytes:
    """What the client gets of a response, without its size."""
    named = [{"ResourceType": BROKER, "ResourceName": "7", "ConfigurationKeys": None}]
    request = frames.request(KEY, version, 5, {"Resources": named})
    relay = Relay(Cluster(nodes=[(7, "proxy", 19099, None)]))
    relay.play([("client", request), ("broker", sent)], by(step))
    assert relay.reason is None
    return bytes(relay.client.data[4:])


@given(st.data(), _VERSIONS, _STEPS)
def test_no_planted_host_comes_through(data: st.DataObject, version: int, step: int) -> None:
    """Whatever the form of a value, the version and the pieces; unknown tagged fields and other configs stay."""
    content = data.draw(planted(version))
    sent = frames.raw_response(KEY, version, 5, contents.encode(KEY, version, content))
    got = relayed(version, sent, step)
    found = [host for host in PLANTED if host.encode() in got]
    never(bool(found), f"a broker's own hosts come through: {found}")
    read = frames.understood(KEY, version, got)
    assert without_addresses(read) == without_addresses(frames.understood(KEY, version, sent[4:]))


@given(st.data(), _VERSIONS, _STEPS)
def test_a_response_without_addresses_is_the_same(data: st.DataObject, version: int, step: int) -> None:
    """Byte for byte."""
    content = data.draw(contents.contents(KEY, version))
    sent = frames.raw_response(KEY, version, 5, contents.encode(KEY, version, content))
    assert relayed(version, sent, step) == sent[4:]


def _upper(found: ConfigValue) -> bytes:
    return found.value.upper() * 100


@given(st.data(), _VERSIONS)
def test_any_value_can_be_replaced(data: st.DataObject, version: int) -> None:
    """Longer ones, too; each value is found that is neither null nor empty, and no other byte changes."""
    content = data.draw(contents.contents(KEY, version))
    frame = frames.raw_response(KEY, version, 5, contents.encode(KEY, version, content))[4:]
    walk = ConfigValues(version, frozenset(), (b"",))
    walk.look(frame, 0, len(frame))
    walk.finish(len(frame))
    changed = b"".join(replaced(frame, version, [(found, _upper(found)) for found in walk.found]))
    for result in content["Results"]:
        for holder in (one for config in result["Configs"] for one in (config, *synonyms_of(config))):
            if holder["Value"]:
                holder["Value"] = (holder["Value"].encode().upper() * 100).decode()
    assert frames.understood(KEY, version, changed) == frames.understood(
        KEY, version, frames.raw_response(KEY, version, 5, contents.encode(KEY, version, content))[4:]
    )
