"""A pytest plugin: kproxy in front of the test's Kafka, and faults by name, for the tests of applications.

pytest loads it by the entry point `pytest11` in every run where kproxy is installed. So this module imports pytest
alone, and the rest when the fixture `kproxy` is used. docs/testing.md describes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kproxy.testing.plugin import (
    kafka_bootstrap_servers,
    kproxy,
    kproxy_config,
    pytest_addoption,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_sessionfinish,
)

if TYPE_CHECKING:
    from kproxy.testing.injection import Kproxy, Rule, UnusedRuleError
    from kproxy.testing.observed import ResponseError

__all__ = [
    "Kproxy",
    "ResponseError",
    "Rule",
    "UnusedRuleError",
    "kafka_bootstrap_servers",
    "kproxy",
    "kproxy_config",
    "pytest_addoption",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_sessionfinish",
]


def __getattr__(name: str) -> Any:
    """Import a class of the plugin when a test first names it."""
    from importlib import import_module  # noqa: PLC0415 - only where a class is named

    modules = {"ResponseError": "observed", "Kproxy": "injection", "Rule": "injection", "UnusedRuleError": "injection"}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{modules[name]}"), name)
