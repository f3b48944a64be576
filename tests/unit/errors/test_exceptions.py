"""kproxy.errors: exceptions say what they mean."""

from __future__ import annotations

from kproxy.errors import ConfigError


def test_a_configuration_error_names_key_and_reason() -> None:
    """One line: the dotted key, then what is wrong with it."""
    error = ConfigError("clusters.0.listen", "the port is taken")
    assert (error.key, error.reason) == ("clusters.0.listen", "the port is taken")
    assert str(error) == "clusters.0.listen: the port is taken"
