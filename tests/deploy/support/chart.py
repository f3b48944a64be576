"""The chart, rendered and linted by helm."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.support import tools

CHART = tools.ROOT / "deploy" / "helm" / "kproxy"
RELEASE, NAMESPACE = "kproxy", "messaging"
Object = dict[str, Any]

MAIN: Mapping[str, Any] = {
    "name": "main",
    "bootstrapServers": ["kafka-0.kafka:9092", "kafka-1.kafka:9092"],
    "nodes": {"ranges": ["0-2"]},
}
NAMED: Mapping[str, Any] = {
    "advertisedHost": "kafka.example.org",
    "tls": {"certificate": "/tls/tls.crt", "key": "/tls/tls.key"},
}
UPSTREAMS = [
    {"name": "east", "bootstrapServers": ["kafka-0.east:9092", "kafka-1.east:9092"]},
    {"name": "west", "bootstrapServers": ["kafka-0.west:9092"]},
]
AGREEING: Mapping[str, Any] = {
    "name": "main",
    "upstreams": UPSTREAMS,
    "failover": {"configMap": True},
    "nodes": {"ranges": ["0-2"]},
}
TELEMETRY = {
    "admin": "none",
    "interval": "2m",
    "maxBytes": "512KiB",
    "subscriptions": [
        {"name": "all", "metrics": ["*"]},
        {"name": "java", "metrics": ["a.", "b."], "interval": "10s", "match": {"client_software_name": "apache.*"}},
    ],
    "receivers": ["scrape"],
}
GROUPS = [
    {
        "match": "orders-.*",
        "initialRebalanceDelay": "500ms",
        "minSessionTimeout": "10s",
        "maxSessionTimeout": "5m",
        "offsetRefresh": "1h",
        "maxMembers": 500,
        "leader": "random",
    },
    {"match": "audit"},
]
RECEIVERS = [
    {"name": "scrape", "type": "prometheus", "labels": ["client_id"]},
    {"name": "lake", "type": "files", "directory": "/telemetry"},
]
_LABELLED = {"podSelector": {"matchLabels": {"kafka-client": "true"}}}

# What users set, by purpose. Each one is rendered, validated and installed.
VALUES: Mapping[str, Mapping[str, Any]] = {
    "minimal": {"clusters": [MAIN]},
    "single": {"clusters": [MAIN], "replicas": 1, "drain": {"preStopSeconds": 0}},
    "two-clusters": {
        "clusters": [
            {**MAIN, "nodes": {"ranges": ["0-2", "100-101", "2147483646"]}},
            {"name": "audit", "bootstrapServers": ["[fd00::1]:9092"], "port": 9192, "nodes": {"ranges": ["7"]}},
        ],
        "bindAddress": "[::]",
    },
    "node-port": {
        "clusters": [
            {
                **MAIN,
                "advertisedHost": "kafka.example.org",
                "nodePort": 30092,
                "nodes": {"ranges": ["0-2"], "advertisedFirstPort": 30093},
            }
        ],
        "service": {"type": "NodePort", "externalTrafficPolicy": "Local"},
    },
    "load-balancer": {
        "clusters": [{**MAIN, "advertisedHost": "kafka.example.org"}],
        "service": {
            "type": "LoadBalancer",
            "annotations": {"example.org/internal": "true"},
            "loadBalancerClass": "example.org/nlb",
            "loadBalancerSourceRanges": ["10.0.0.0/8"],
        },
    },
    "names": {
        "clusters": [
            {**MAIN, **NAMED, "port": 9093, "nodes": {"strategy": "sni", "pattern": "b$(node_id).main.example.org"}},
            {
                **NAMED,
                "name": "bills",
                "bootstrapServers": ["kafka-0.bills:9092"],
                "advertisedHost": "bills.example.org",
                "port": 9093,
                "nodes": {"strategy": "sni", "pattern": "b$(node_id).bills.example.org"},
            },
            {**MAIN, "name": "ports", "port": 9192},
        ],
        "service": {"type": "LoadBalancer"},
        "networkPolicy": {"enabled": True},
    },
    "names-node-port": {
        "clusters": [
            {
                **MAIN,
                **NAMED,
                "nodes": {"strategy": "sni", "pattern": "b$(node_id).main.example.org", "advertisedPort": 30093},
            }
        ],
        "service": {"type": "NodePort"},
    },
    "failover": {
        "clusters": [
            {
                "name": "main",
                "upstreams": UPSTREAMS,
                "failover": {
                    "automatic": True,
                    "after": "30s",
                    "floor": "15m",
                    "hideTopicIdsFrom": [],
                    "separateProducerIds": False,
                    "standbyInterval": "20s",
                },
                "nodes": {"ranges": ["0-2"]},
            }
        ],
        "drain": {"rebootstrap": True},
    },
    "config-map": {"clusters": [AGREEING, {**MAIN, "name": "other", "port": 9192}]},
    "control-topic": {"clusters": [{**AGREEING, "failover": {"controlTopic": "kproxy-orders"}}]},
    "telemetry": {
        "clusters": [{**MAIN, "telemetry": TELEMETRY}],
        "config": {"receivers": RECEIVERS, "state": {"path": "/telemetry/state.db"}},
        "extraVolumes": [{"name": "telemetry", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "telemetry", "mountPath": "/telemetry"}],
        "serviceMonitor": {"enabled": True, "clients": True},
    },
    "groups": {
        "clusters": [{**MAIN, "groups": GROUPS}],
        "replicas": 1,
        "config": {"state": {"path": "/state/kproxy.db"}},
        "extraVolumes": [{"name": "state", "persistentVolumeClaim": {"claimName": "kproxy-state"}}],
        "extraVolumeMounts": [{"name": "state", "mountPath": "/state"}],
    },
    "everything": {
        "clusters": [
            {**MAIN, "port": 19092, "nodes": {"ranges": ["0-98"], "firstPort": 20000}},
            {**AGREEING, "name": "agreeing", "port": 21092},
        ],
        "image": {"repository": "registry.example.org/kproxy", "digest": f"sha256:{'0' * 64}", "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "registry"}],
        "replicas": 3,
        "service": {"trafficDistribution": "PreferClose"},
        "admin": {"port": 9999, "tls": {"secretName": "admin-tls", "serverName": "kproxy.example.org"}},
        "drain": {"deadlineSeconds": 120, "preStopSeconds": 10},
        "config": {"log": {"level": "debug"}, "limits": {"max_connections": 10000}, "timeouts": {"connect": "5s"}},
        "extraEnv": [{"name": "KPROXY_TOPOLOGY__INTERVAL", "value": "10s"}],
        "extraVolumes": [{"name": "scratch", "emptyDir": {}}],
        "extraVolumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
        "resources": {"requests": {"cpu": 1, "memory": "128Mi"}, "limits": {"cpu": "1500m", "memory": "1Gi"}},
        "livenessProbe": {"initialDelaySeconds": 1},
        "serviceAccount": {"name": "gateway", "annotations": {"example.org/team": "messaging"}},
        "podAnnotations": {"example.org/note": "yes"},
        "podLabels": {"team": "messaging"},
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "priorityClassName": "high",
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}]
                }
            }
        },
        "podDisruptionBudget": {"maxUnavailable": "34%"},
        "networkPolicy": {
            "enabled": True,
            "clients": [_LABELLED, {"ipBlock": {"cidr": "10.0.0.0/8"}}],
            "monitoring": [{"namespaceSelector": {}}],
        },
        "serviceMonitor": {"enabled": True, "interval": "1m", "labels": {"release": "prometheus"}},
        "global": {"shared": "by a parent chart"},
    },
}


def helm(*arguments: str | Path, kubeconfig: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run helm; without a kubeconfig it cannot reach any cluster of the machine's user."""
    return tools.run(tools.ensure("helm"), *arguments, env={"KUBECONFIG": str(kubeconfig or "/nonexistent")})


def values_file(values: Mapping[str, Any], directory: Path) -> Path:
    """Write the values to a file and return its path; JSON is YAML."""
    path = directory / "values.yaml"
    path.write_text(json.dumps(values))
    return path


def template(values: Mapping[str, Any], directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `helm template` with these values."""
    where = ("--namespace", NAMESPACE, "--kube-version", "1.34")
    return helm("template", RELEASE, CHART, *where, "--values", values_file(values, directory), *options)


def rendered(values: Mapping[str, Any], directory: Path) -> list[Object]:
    """Return the objects that these values give."""
    done = template(values, directory)
    assert done.returncode == 0, done.stderr
    return [found for found in yaml.safe_load_all(done.stdout) if found]


def of_kind(objects: Sequence[Object], kind: str) -> list[Object]:
    """Return the objects of one kind, in order."""
    return [found for found in objects if found["kind"] == kind]


def only(objects: Sequence[Object], kind: str) -> Object:
    """Return the single object of its kind."""
    (found,) = of_kind(objects, kind)
    return found


def pod_of(deployment: Object) -> Object:
    """Return the pod that a Deployment's controller would create."""
    template = copy.deepcopy(deployment["spec"]["template"])
    template["metadata"]["name"] = "probe"
    return {"apiVersion": "v1", "kind": "Pod", **template}


def configuration(objects: Sequence[Object]) -> str:
    """Return kproxy's configuration file, as the pods see it."""
    text: str = only(objects, "ConfigMap")["data"]["kproxy.yaml"]
    return text


def environment(objects: Sequence[Object]) -> dict[str, str]:
    """Return the variables of kproxy's container."""
    container = only(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    return {variable["name"]: variable["value"] for variable in container["env"]}
