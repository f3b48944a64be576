"""Configuration: models, and how they are read from flags, KPROXY_* variables and a YAML file."""

from kproxy.config.address import HostPort
from kproxy.config.cluster import VirtualCluster
from kproxy.config.loading import ConfigProblems, load
from kproxy.config.models import Config
from kproxy.config.nodes import NodeRange, Nodes
from kproxy.config.process import (
    Admin,
    Drain,
    Limits,
    Log,
    Timeouts,
    Topology,
)
from kproxy.config.upstreams import Failover, Upstream

__all__ = [
    "Admin",
    "Config",
    "ConfigProblems",
    "Drain",
    "Failover",
    "HostPort",
    "Limits",
    "Log",
    "NodeRange",
    "Nodes",
    "Timeouts",
    "Topology",
    "Upstream",
    "VirtualCluster",
    "load",
]
