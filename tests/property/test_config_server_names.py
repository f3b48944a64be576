"""kproxy.config.server_names: whether two patterns share a name, beside trying all ids."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kproxy.config.server_names import NamePattern

_PARTS = st.text("01-", max_size=3)
_PATTERNS = st.builds(NamePattern, _PARTS, _PARTS)
_IDS = range(1200)


@given(_PATTERNS, _PATTERNS)
def test_shared_names_are_found(one: NamePattern, other: NamePattern) -> None:
    """A name is found exactly if some id of the one makes a name of the other."""
    tried = {name for each in _IDS if other.node_id(name := one.name(each)) is not None}
    found = one.shared_with(other)
    assert (found is not None) or not tried
    if found is not None:
        assert one.node_id(found) is not None
        assert other.node_id(found) is not None
