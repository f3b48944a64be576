"""Configuration: models, and how they are read from flags, KPROXY_* variables and a YAML file."""

from kproxy.config.address import HostPort
from kproxy.config.cluster import NodeRange, Nodes, VirtualCluster
from kproxy.config.loading import ConfigProblems, load
from kproxy.config.models import Config
from kproxy.config.process import (
    Admin,
    Drain,
    Limits,
    Log,
    Timeouts,
    Topology,
)

__all__ = [
    "Admin",
    "Config",
    "ConfigProblems",
    "Drain",
    "HostPort",
    "Limits",
    "Log",
    "NodeRange",
    "Nodes",
    "Timeouts",
    "Topology",
    "VirtualCluster",
    "load",
]
