"""codegen.names: Kafka's names in Python's spelling."""

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
    """Capitals separate words; the result is never a keyword."""
    assert snake(kafka) == python


def test_words() -> None:
    """The search for host and port in a name looks at these words."""
    assert words("MinSupportedVersion") == ["Min", "Supported", "Version"]
