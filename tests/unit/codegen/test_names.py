"""Names."""

from __future__ import annotations

import pytest

from codegen.names import snake, words


@pytest.mark.parametrize(
    ("kafka", "python"),
    [
        ("ThrottleTimeMs", "throttle_time_ms"),
        ("KRaftVersion", "k_raft_version"),
        ("ACLOperation", "acl_operation"),
        ("Global", "global_"),
    ],
)
def test_snake(kafka: str, python: str) -> None:
    """Words by their capitals; never a keyword."""
    assert snake(kafka) == python


def test_words() -> None:
    """The unit in which a name is searched for host and port."""
    assert words("MinSupportedVersion") == ["Min", "Supported", "Version"]
