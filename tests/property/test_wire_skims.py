"""Skims and streams checked against a plain encoder: every response with addresses, in every version, cut anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import response_header_version
from kproxy.wire.skim import (
    CONTROLLER,
    ResponseStream,
    Skim,
    replace_addresses,
    response_glance,
    response_skim,
    response_stream,
)
from tests.property import wire_contents as contents
from tests.unit.relay import frames

_STOPS_EARLY = (3, 60)  # Metadata and DescribeCluster: nothing behind the brokers is looked at


@pytest.mark.parametrize(("key", "version"), contents.CARRIERS)
@given(data=st.data(), before=st.binary(max_size=3), behind=st.binary(max_size=3))
@settings(max_examples=12)
def test_skim_finds_what_the_encoder_wrote(
    key: int, version: int, data: st.DataObject, before: bytes, behind: bytes
) -> None:
    """All addresses with their node ids, and all error codes, at any place of a larger buffer."""
    content = data.draw(contents.contents(key, version))
    body = contents.encode(key, version, content)
    skim = response_skim(key, version)
    assert skim is not None
    found = skim(before + body + behind, len(before), len(before) + len(body))
    assert [address[:3] for address in found.addresses] == contents.addresses(key, version, content)
    if key not in _STOPS_EARLY:
        assert found.errors == contents.errors(key, version, content)


@pytest.mark.parametrize(("key", "version"), contents.CARRIERS)
@given(data=st.data(), before=st.binary(max_size=3), behind=st.binary(max_size=3))
@settings(max_examples=12)
def test_a_glance_misses_nothing_that_a_skim_finds(
    key: int, version: int, data: st.DataObject, before: bytes, behind: bytes
) -> None:
    """Any content, cut short or with a byte changed: the glance finds nothing exactly if the skim finds nothing."""
    sent = frames.raw_response(
        key, version, 1, contents.encode(key, version, data.draw(contents.contents(key, version)))
    )
    whole = bytearray(sent[4 : 4 + data.draw(st.integers(4, len(sent) - 4))])
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.sampled_from([0, 0, 1, 0x80, 0xFF]))
    skim, glance = response_skim(key, version), response_glance(key, version)
    assert skim is not None
    assert glance is not None
    buf = before + whole + behind
    for seen in (buf, buf, memoryview(buf)):  # what one glance found is not there for the next
        nothing = glance.nothing(seen, len(before), len(before) + len(whole))
        assert nothing == _finds_nothing(skim, key, version, whole)


def _finds_nothing(skim: Skim, key: int, version: int, whole: bytearray) -> bool:
    if response_header_version(key, version) == 1 and whole[4:5] != b"\0":
        return False
    try:
        found = skim(bytes(whole), 4 + response_header_version(key, version), len(whole))
    except MalformedMessageError:
        return False
    return not found.addresses and not found.errors


@pytest.mark.parametrize(("key", "version"), contents.CARRIERS)
@given(data=st.data())
@settings(max_examples=12)
def test_replaced_addresses_are_what_the_encoder_writes(key: int, version: int, data: st.DataObject) -> None:
    """Splicing gives the same bytes as encoding the content with other addresses, sizes of tagged fields included."""
    content = data.draw(contents.contents(key, version))
    body = memoryview(b"." + contents.encode(key, version, content))
    skim = response_skim(key, version)
    assert skim is not None
    found = skim(body, 1, len(body)).addresses
    hosts = st.sampled_from(["", "k", "kproxy.example.org", "p" * 200])
    new = data.draw(st.lists(st.tuples(hosts, st.integers(0, 65535)), min_size=len(found), max_size=len(found)))
    spliced = b"".join(replace_addresses(body, 1, len(body), found, new))
    assert spliced == contents.encode(key, version, contents.replaced(content, new))


@given(contents.contents(60, 2))
@settings(max_examples=12)
def test_describe_cluster_distinguishes_controllers_from_brokers(content: contents.Content) -> None:
    """EndpointType 2 (KIP-919) marks every address as a controller's."""
    skim = response_skim(60, 2)
    assert skim is not None
    for endpoint_type in (1, 2):
        body = contents.encode(60, 2, content | {"EndpointType": endpoint_type})
        kinds = {address.kind == CONTROLLER for address in skim(body, 0, len(body)).addresses}
        assert kinds <= {endpoint_type == 2}


def _walk(stream: ResponseStream, body: bytes, steps: list[int]) -> tuple[bytes, int]:
    """Feed a stream as a relay does, in pieces; return what was forwarded and the place of the tail."""
    pos = shown = 0
    forwarded = b""
    while not stream.at_tail:
        assert shown < len(body), "the walk asks for more than there is"
        shown = min(len(body), shown + (steps.pop() if steps else 1))
        reached = stream.feed(body, pos, shown)
        assert pos <= reached <= shown
        forwarded += body[pos:reached] + body[reached : reached + stream.skip]
        pos = reached + stream.skip
        shown = max(shown, pos)
    return forwarded, pos


@pytest.mark.parametrize(("key", "version"), contents.STREAMED)
@given(data=st.data(), steps=st.lists(st.integers(1, 400), max_size=40))
@settings(max_examples=20)
def test_stream_is_the_same_for_any_cut(key: int, version: int, data: st.DataObject, steps: list[int]) -> None:
    """Forwarded bytes, error codes and the tail's place do not depend on how the frame arrives."""
    content = data.draw(contents.contents(key, version))
    body = contents.encode(key, version, content)
    whole = response_stream(key, version)
    cut = response_stream(key, version)
    assert whole is not None
    assert cut is not None
    forwarded, tail = _walk(cut, body, list(steps))
    assert (forwarded, tail) == (body[:tail], whole.feed(body, 0, len(body)))
    assert whole.at_tail
    assert cut.errors == whole.errors == contents.errors(key, version, content)


@pytest.mark.parametrize(("key", "version"), contents.STREAMED)
@given(data=st.data(), host=st.sampled_from(["", "k", "10.0.0.2", "kproxy.example.org", "p" * 200]))
@settings(max_examples=20)
def test_neutralised_tail_keeps_its_length_and_no_address(
    key: int, version: int, data: st.DataObject, host: str
) -> None:
    """Addresses for the client when they fit, none otherwise; everything else, unknown tagged fields too, as it was."""
    content = data.draw(contents.contents(key, version))
    body = contents.encode(key, version, content)
    stream = response_stream(key, version)
    skim = response_skim(key, version)
    assert stream is not None
    assert skim is not None
    tail = stream.feed(body, 0, len(body))
    asked: list[tuple[int, str, int]] = []

    def advertise(node_id: int, old_host: str, port: int) -> tuple[str, int]:
        asked.append((node_id, old_host, port))
        return host, 19092

    result = body[:tail] + stream.neutralise(body[tail:], advertise)
    assert len(result) == len(body)
    expected = contents.addresses(key, version, content)
    assert asked == expected
    found = [address[:3] for address in skim(result, 0, len(result)).addresses]
    new = [(node_id, host, 19092) for node_id, _, _ in expected]
    replaced = contents.encode(key, version, contents.replaced(content, [address[1:] for address in new]))
    assert found == (new if len(replaced) <= len(body) else [])
    hosts = {old.encode() for _, old, _ in expected if len(old) > 4 and old != host}
    assert not any(old in result[tail:] for old in hosts)
