"""Configuration: models, and how they are read from flags, KPROXY_* variables and a YAML file."""

from kproxy.config.address import HostPort
from kproxy.config.models import (
    Admin,
    Config,
    Drain,
    Limits,
    Log,
    NodeRange,
    Nodes,
    Timeouts,
    Topology,
    VirtualCluster,
)

__all__ = [
    "Admin",
    "Config",
    "Drain",
    "HostPort",
    "Limits",
    "Log",
    "NodeRange",
    "Nodes",
    "Timeouts",
    "Topology",
    "VirtualCluster",
]
