"""kproxy.config.delivery: settings for delivery to files."""

from __future__ import annotations

import pytest

from kproxy.config.delivery import check_prefix


@pytest.mark.parametrize("prefix", ["", "_x", ".x", "a/b", "a*", "x" * 65])
def test_prefixes(prefix: str) -> None:
    """A prefix is refused when Spark would skip the files, or when no file can have such a name."""
    check_prefix("client-telemetry_1")
    with pytest.raises(ValueError, match="no prefix of files"):
        check_prefix(prefix)
