"""The configuration: its models, and `load`, which reads it from flags, KPROXY_* variables and a YAML file."""

from kproxy.config.address import HostPort
from kproxy.config.cluster import VirtualCluster
from kproxy.config.events import DESTINATIONS, EventFiles, Events, EventTopic
from kproxy.config.groups import GroupRule
from kproxy.config.identity import Identity
from kproxy.config.loading import ConfigProblems, load
from kproxy.config.models import Config
from kproxy.config.nodes import NodeRange, Nodes
from kproxy.config.process import (
    Admin,
    Drain,
    Limits,
    Log,
    State,
    Timeouts,
    Topology,
)
from kproxy.config.receivers import BUILT_IN, Files, Kafka, Otlp, PlugIn, Prometheus, Receiver, Tls
from kproxy.config.telemetry import Subscription, Telemetry
from kproxy.config.upstreams import Failover, Upstream

__all__ = [
    "BUILT_IN",
    "DESTINATIONS",
    "Admin",
    "Config",
    "ConfigProblems",
    "Drain",
    "EventFiles",
    "EventTopic",
    "Events",
    "Failover",
    "Files",
    "GroupRule",
    "HostPort",
    "Identity",
    "Kafka",
    "Limits",
    "Log",
    "NodeRange",
    "Nodes",
    "Otlp",
    "PlugIn",
    "Prometheus",
    "Receiver",
    "State",
    "Subscription",
    "Telemetry",
    "Timeouts",
    "Tls",
    "Topology",
    "Upstream",
    "VirtualCluster",
    "load",
]
