"""The wire layer checked against kafka-clients: every message with a codec, every response with addresses.

Versions that Kafka 4 has removed are checked against the last release that had them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from codegen.schema import Message
from kproxy.wire.skim import error_offset, replace_addresses, response_skim, response_stream
from tests.property import wire_contents as contents
from tests.property.wire_messages import CASES, SCHEMAS, case_id, class_of, instances, to_json
from tests.support.wire_oracle import WireOracles, wire_oracles

# Without shrinking: thousands of further questions to the Java process would take minutes.
EXAMPLES = settings(max_examples=8, derandomize=True, database=None, deadline=None, phases=[Phase.generate])


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireOracles]:
    """Yield the same Java processes for all tests."""
    with wire_oracles(tmp_path_factory.mktemp("wire-oracle")) as processes:
        yield processes


@pytest.mark.parametrize(("message", "version"), CASES, ids=case_id)
@given(data=st.data())
@EXAMPLES
def test_codec(oracle: WireOracles, message: Message, version: int, data: st.DataObject) -> None:
    """Bytes and content are the same on both sides, unknown tagged fields included."""
    value = data.draw(instances(message, version))
    encoded = value.encode(version)
    opinion = oracle.check(message.name, version, encoded)
    assert opinion.encoded == encoded
    assert opinion.content == to_json(message.struct, value, version)
    assert class_of(message).decode(opinion.encoded, version) == value


@pytest.mark.parametrize("message", SCHEMAS.of_kind("request") + SCHEMAS.of_kind("response"), ids=case_id)
def test_versions(oracle: WireOracles, message: Message) -> None:
    """kafka-clients knows neither more nor fewer versions of any message than the schemas."""
    assert oracle.newest.versions(message.name) == (message.newest_from, message.valid.high)
    if message.valid.low < message.newest_from:
        lowest, highest = oracle.older.versions(message.name)
        assert lowest == message.valid.low
        assert highest >= message.newest_from - 1


@pytest.mark.parametrize(("key", "version"), contents.CARRIERS)
@given(data=st.data())
@EXAMPLES
def test_skim(oracle: WireOracles, key: int, version: int, data: st.DataObject) -> None:
    """A skim finds the addresses in what kafka-clients wrote, and kafka-clients reads what was put in their place."""
    name = contents.RESPONSES[key].name
    content = data.draw(contents.contents(key, version, tags=False))
    body = oracle.build(name, version, contents.as_json(key, version, content))
    assert body == contents.encode(key, version, content)
    skim = response_skim(key, version)
    assert skim is not None
    found = skim(body, 0, len(body)).addresses
    assert [address[:3] for address in found] == contents.addresses(key, version, content)
    new = [(f"node-{address.node_id}.kproxy.example.org", 19092) for address in found]
    spliced = b"".join(replace_addresses(body, 0, len(body), found, new))
    changed = oracle.check(name, version, spliced)
    assert changed.encoded == spliced
    assert changed.content == contents.replaced(oracle.check(name, version, body).content, new)


@pytest.mark.parametrize(("key", "version"), contents.STREAMED)
@given(data=st.data(), host=st.sampled_from(["k", "10.0.0.2", "broker-1.kafka.svc.cluster.loca", "p" * 200]))
@settings(EXAMPLES, max_examples=60)
def test_neutralised(oracle: WireOracles, key: int, version: int, data: st.DataObject, host: str) -> None:
    """kafka-clients reads a response whose tail was neutralised: the same in all but its endpoints."""
    name = contents.RESPONSES[key].name
    content = data.draw(contents.contents(key, version))
    body = contents.encode(key, version, content)
    stream = response_stream(key, version)
    assert stream is not None
    tail = stream.feed(body, 0, len(body))
    result = body[:tail] + stream.neutralise(body[tail:], lambda node, old, port: (host, 19092))
    before = oracle.check(name, version, body).content
    after = oracle.check(name, version, result).content
    endpoints = after.pop("nodeEndpoints", [])
    old_endpoints = before.pop("nodeEndpoints", [])
    assert after == before
    advertised = [old | {"host": host, "port": 19092} for old in old_endpoints]
    assert endpoints == advertised or (endpoints == [] and len(host) > min(len(old["host"]) for old in old_endpoints))


@pytest.mark.parametrize("key", sorted(contents.RESPONSES))
@given(data=st.data())
@EXAMPLES
def test_error_offset(oracle: WireOracles, key: int, data: st.DataObject) -> None:
    """kafka-clients writes the top-level error code where the table says, in every API."""
    message = contents.RESPONSES[key]
    version = data.draw(st.sampled_from(list(message.valid)))
    content = data.draw(contents.contents(key, version, tags=False))
    content |= {"ErrorCode": 0x1234} if "ErrorCode" in content else {}
    body = oracle.build(message.name, version, contents.as_json(key, version, content))
    offset = error_offset(key, version)
    if offset is not None:
        assert body[offset : offset + 2] == b"\x12\x34"
    else:
        assert "ErrorCode" not in content or not contents.at_fixed_place(key, version)
