"""Error walks checked against a plain encoder: every response that clients get, in every version."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproxy.wire.apis import APIS
from kproxy.wire.error_walk import ErrorWalk, error_walk
from tests.property import wire_contents as contents
from tests.unit.relay import frames

TELLING = [
    (api.key, version)
    for api in APIS.values()
    if api.broker
    for version in range(api.min_version, api.max_version + 1)
    if error_walk(api.key, version) is not None
]
TAGS = ((70, b"header"),)


def walk_of(key: int, version: int) -> ErrorWalk:
    walk = error_walk(key, version)
    assert walk is not None
    return walk


@pytest.mark.parametrize(("key", "version"), TELLING)
@given(data=st.data(), before=st.binary(max_size=3), behind=st.binary(max_size=3), tagged=st.booleans())
@settings(max_examples=10)
def test_all_codes_are_found_with_what_they_are_about(
    key: int, version: int, data: st.DataObject, before: bytes, behind: bytes, tagged: bool
) -> None:
    """Nested and tagged ones, at any place of a larger buffer, whatever else is in the response and in its header."""
    content = data.draw(contents.contents(key, version))
    body = contents.encode(key, version, content)
    sent = frames.raw_response(key, version, 1, body, TAGS if tagged else ())[4:]
    walk, buf, end = walk_of(key, version), before + sent + behind, len(before) + len(sent)
    for seen in (buf, memoryview(buf)):
        found = walk.look(seen, len(before), end)
        named = [(code, walk.name(seen, topic, end), walk.name(seen, group, end)) for code, topic, group in found]
        assert sorted(named, key=str) == contents.answered(key, version, content)


@pytest.mark.parametrize(("key", "version"), contents.STREAMED)
@given(data=st.data())
@settings(max_examples=10)
def test_walks_agree_with_skims(key: int, version: int, data: st.DataObject) -> None:
    """A response that comes in pieces streams; its codes are those of one that comes whole."""
    content = data.draw(contents.contents(key, version))
    sent = frames.raw_response(key, version, 1, contents.encode(key, version, content))[4:]
    codes = [code for code, _, _ in walk_of(key, version).look(sent, 0, len(sent))]
    assert codes == contents.errors(key, version, content)


@pytest.mark.parametrize(("key", "version"), TELLING)
@given(data=st.data())
@settings(max_examples=10)
def test_any_bytes_are_looked_at(key: int, version: int, data: st.DataObject) -> None:
    """Cut short or with a byte changed, a response raises nothing, and the next one is looked at as ever."""
    content = data.draw(contents.contents(key, version))
    whole = frames.raw_response(key, version, 1, contents.encode(key, version, content))[4:]
    wrong = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    if wrong:
        wrong[data.draw(st.integers(0, len(wrong) - 1))] ^= data.draw(st.sampled_from([0, 1, 0x80, 0xFF]))
    walk = walk_of(key, version)
    for code, topic, group in walk.look(wrong, 0, len(wrong)):
        assert code
        assert 0 <= topic < len(wrong)
        assert 0 <= group < len(wrong)
    assert Counter(code for code, _, _ in walk.look(whole, 0, len(whole))) == Counter(
        code for code, _, _ in contents.answered(key, version, content)
    )


def test_every_response_with_a_code_is_looked_at() -> None:
    """No version of any API that clients use is left out: those with codes are those whose schema has a code."""
    with_codes = [
        (api.key, version)
        for api in APIS.values()
        if api.broker
        for version in range(api.min_version, api.max_version + 1)
        if contents.has_codes(api.key, version)
    ]
    assert with_codes == TELLING
