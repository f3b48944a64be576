"""The image: locked down, in front of a real Kafka, and ended by SIGTERM."""

from __future__ import annotations

import json
import re
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from confluent_kafka import Consumer, KafkaError, Message, Producer

import kproxy
from kproxy.local_kafka.ports import free_ports
from kproxy.markers import COMPILED, marked
from tests.deploy.support import chart
from tests.deploy.support.container import Container, once
from tests.support import proc, tools
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.wait import until

HOST = "127.0.0.1"
UID = "65532"
DRAIN_SECONDS = 10
RECORDS = 500
MAX_RSS = 60 << 20
# What kproxy and its dependencies add to the base image; the figures are printed.
MAX_ADDED = 60 << 20


def _variables(servers: str, bootstrap_port: int, admin_port: int) -> dict[str, str]:
    return {
        "KPROXY_BOOTSTRAP_SERVERS": servers,
        "KPROXY_LISTEN": f"{HOST}:{bootstrap_port}",
        "KPROXY_ADMIN": f"{HOST}:{admin_port}",
        "KPROXY_DRAIN__DEADLINE": f"{DRAIN_SECONDS}s",
    }


@pytest.fixture
def ports() -> range:
    """Return the bootstrap port, room for nodes, and the admin port as the last one."""
    return free_ports(8)


@pytest.fixture
def container(image: str, kafka: Backend, ports: range) -> Iterator[Container]:
    """Yield a container with the image's default command, configured by variables alone."""
    with Container(image, ports[-1], env=_variables(kafka.cluster.bootstrap, ports[0], ports[-1])) as running:
        yield running


@pytest.fixture(scope="session")
def topic(kafka: Backend) -> str:
    """Create a topic on all three brokers."""
    return kafka.topic(name=f"image-{uuid.uuid4().hex[:8]}")


def _produce(bootstrap: str, topic: str, count: int = RECORDS) -> set[bytes]:
    """Produce records that no other run has; return those that were acknowledged."""
    acknowledged: set[bytes] = set()
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True})
    run = uuid.uuid4().hex
    for number in range(count):
        producer.produce(topic, f"{run}-{number}", on_delivery=_keep(acknowledged))
        producer.poll(0)
    assert producer.flush(60) == 0
    assert len(acknowledged) == count
    return acknowledged


def _keep(acknowledged: set[bytes]) -> Callable[..., None]:
    def delivered(error: KafkaError | None, message: Message) -> None:
        assert error is None
        value = message.value()
        assert value is not None
        acknowledged.add(value)

    return delivered


def _consume(bootstrap: str, topic: str, wanted: set[bytes]) -> None:
    """Read the topic in a group of its own until each wanted record was seen."""
    settings = {"bootstrap.servers": bootstrap, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
    consumer, missing, deadline = Consumer(settings), set(wanted), time.monotonic() + 60
    try:
        consumer.subscribe([topic])
        while missing:
            assert time.monotonic() < deadline, f"{len(missing)} of {len(wanted)} records not consumed within 60 s"
            for message in consumer.consume(RECORDS, timeout=1):
                assert message.error() is None
                missing.discard(message.value())
    finally:
        consumer.close()


def _advertised(bootstrap: str) -> dict[int, tuple[str, int]]:
    """Return the host and port that are advertised to clients, by node."""
    brokers = Producer({"bootstrap.servers": bootstrap}).list_topics(timeout=20).brokers.values()
    return {broker.id: (broker.host, broker.port) for broker in brokers}


def test_clients_produce_and_consume(container: Container, kafka: Backend, topic: str, ports: range) -> None:
    """Records go through the container both ways, and clients see no broker's own port."""
    bootstrap = f"{HOST}:{ports[0]}"
    _consume(bootstrap, topic, _produce(bootstrap, topic))
    advertised = _advertised(bootstrap)
    assert set(advertised) == set(kafka.cluster.brokers)
    assert {port for _, port in advertised.values()} <= set(ports[1:-1])


def test_it_has_no_rights(container: Container) -> None:
    """PID 1 is kproxy itself: no root, no capability, no way to gain one, no process beside it."""
    assert container.status("Uid").split() == [UID] * 4
    assert container.status("Gid").split() == [UID] * 4
    assert int(container.status("CapEff"), 16) == int(container.status("CapBnd"), 16) == 0
    assert container.status("NoNewPrivs") == "1"
    assert container.status("NSpid").split()[-1] == "1"
    assert proc.family(container.pid) == {container.pid}


def test_its_healthcheck_agrees(image: str, container: Container) -> None:
    """The health check that the image declares finds the port from KPROXY_ADMIN, and distinguishes 200 from 404."""
    declared = json.loads(tools.output("podman", "image", "inspect", image))[0]["Healthcheck"]["Test"]
    assert declared == ["CMD", "kproxy-healthcheck"]
    done = container.execute("kproxy-healthcheck")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert container.execute("kproxy-healthcheck", f"{HOST}:{container.admin_port}", "/nowhere").returncode == 1


@pytest.mark.usefixtures("container")
def test_a_wrong_port_is_unhealthy(image: str) -> None:
    """The health check of a container without a running kproxy fails with one line."""
    done = once(image, f"{HOST}:{free_ports(1)[0]}", entrypoint="kproxy-healthcheck")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_sigterm_drains(container: Container, topic: str, ports: range, bounds: Bounds) -> None:
    """With clients connected and a consumer waiting in a fetch, SIGTERM ends it with 0 before the deadline."""
    consumer = Consumer({"bootstrap.servers": f"{HOST}:{ports[0]}", "group.id": uuid.uuid4().hex, "log_level": 0})
    consumer.subscribe([topic])
    until(lambda: consumer.poll(0.1) is None and consumer.assignment(), "partitions assigned")
    began = time.monotonic()
    container.terminate()
    assert container.wait(DRAIN_SECONDS + 5) == 0
    took = time.monotonic() - began
    consumer.close()
    bounds.below(took, DRAIN_SECONDS + 2, "seconds from SIGTERM to the exit")
    assert "Traceback" not in container.log()


def test_it_is_small(image: str, container: Container) -> None:
    """Memory at start and what the image adds to its base stay within bounds."""
    built = json.loads(tools.output("podman", "image", "inspect", image))[0]
    layers = json.loads(tools.output("podman", "history", "--format", "json", image))
    added = sum(layer["size"] for layer in layers[: _layers_of_ours(layers)])
    rss = proc.rss_bytes(container.pid)
    print(f"image {built['Size'] / 1e6:.0f} MB, of which kproxy {added / 1e6:.0f} MB; RSS {rss / 2**20:.0f} MiB")
    assert added <= MAX_ADDED
    assert rss <= MAX_RSS


def _layers_of_ours(layers: list[dict[str, str]]) -> int:
    """Return how many of the newest history entries the last stage of the Dockerfile wrote: up to its LABEL."""
    return next(index for index, layer in enumerate(layers) if "LABEL" in layer["CreatedBy"]) + 1


def test_serve_with_flags(image: str, kafka: Backend, topic: str, ports: range) -> None:
    """`docker run … kproxy serve --bootstrap-servers …`: arguments go to kproxy."""
    flags = ("--bootstrap-servers", kafka.cluster.bootstrap, "--listen", f"{HOST}:{ports[0]}")
    with Container(image, ports[-1], "serve", *flags, "--admin", f"{HOST}:{ports[-1]}"):
        bootstrap = f"{HOST}:{ports[0]}"
        _consume(bootstrap, topic, _produce(bootstrap, topic, 50))


def test_the_charts_configuration_serves(image: str, kafka: Backend, topic: str, ports: range, tmp_path: Path) -> None:
    """The rendered ConfigMap, mounted as in the pod: each node is advertised at the port that its Service maps."""
    ranges = [str(node) for node in kafka.cluster.brokers]
    cluster = {
        "name": "main",
        "bootstrapServers": kafka.cluster.bootstrap.split(","),
        "port": ports[0],
        "advertisedHost": HOST,
        "nodes": {"ranges": ranges},
    }
    objects = chart.rendered({"clusters": [cluster], "admin": {"port": ports[-1]}}, tmp_path)
    (tmp_path / "kproxy.yaml").write_text(chart.configuration(objects))
    tmp_path.chmod(0o755)
    deployment = chart.only(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    env, mounts = chart.environment(objects), {tmp_path: deployment["volumeMounts"][0]["mountPath"]}
    with Container(image, ports[-1], *deployment["args"], env=env, mounts=mounts):
        bootstrap = f"{HOST}:{ports[0]}"
        _consume(bootstrap, topic, _produce(bootstrap, topic, 50))
        (service, _) = chart.of_kind(objects, "Service")
        mapped = {
            port["name"]: (HOST, port["port"]) for port in service["spec"]["ports"] if port["name"] != "bootstrap"
        }
        assert {f"node-{node}": where for node, where in _advertised(bootstrap).items()} == mapped


def test_the_sidecars_variables_serve(image: str, kafka: Backend, topic: str, ports: range) -> None:
    """As in the sidecar example, on other ports: the application's only address is the loopback interface."""
    deployment = yaml.safe_load((tools.ROOT / "deploy" / "examples" / "sidecar.yaml").read_text())
    (sidecar,) = deployment["spec"]["template"]["spec"]["initContainers"]
    env = {variable["name"]: variable["value"] for variable in sidecar["env"]}
    env |= _variables(kafka.cluster.bootstrap, ports[0], ports[-1])
    with Container(image, ports[-1], *sidecar["args"], env=env):
        bootstrap = f"{HOST}:{ports[0]}"
        _consume(bootstrap, topic, _produce(bootstrap, topic, 50))
        advertised = _advertised(bootstrap)
        assert {host for host, _ in advertised.values()} == {HOST}
        assert not {port for _, port in advertised.values()} & kafka.cluster.ports


def test_without_settings_it_says_what_is_missing(image: str) -> None:
    """The bare image ends with exit code 2 and names the setting, without a traceback."""
    done = once(image)
    assert done.returncode == 2
    assert "--bootstrap-servers" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_holds_this_tree_and_nothing_to_install_with(image: str) -> None:
    """The package is whole, file by file, with an extension module for each source that is to be compiled; neither pip
    nor a compiler is there; Python is the one of the Dockerfile's bases."""
    script = (
        "import importlib.util, json, kproxy, pathlib, shutil, sys; root = pathlib.Path(kproxy.__file__).parent;"
        "tools = [importlib.util.find_spec('pip'), *map(shutil.which, ('pip', 'gcc', 'cc'))];"
        "print(json.dumps([sys.version_info[:2], tools,"
        "sorted(str(p.relative_to(root)) for p in root.rglob('*') if p.is_file() and p.suffix != '.pyc')]))"
    )
    done = once(image, "-I", "-c", script, entrypoint="python3")
    assert done.returncode == 0, done.stderr
    version, installers, files = json.loads(done.stdout)
    root = tools.ROOT / "kproxy"
    here = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc")
    extensions = [file for file in files if file.endswith(".so")]
    assert sorted(f"kproxy/{file.split('.')[0]}.py" for file in extensions) == sorted(marked(COMPILED))
    assert [file for file in files if file not in extensions] == here
    assert not any(installers)
    bases = re.findall(
        r"^ARG (?:BUILD_)?BASE=python:(\d+)\.(\d+)-", (tools.ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    assert bases == [tuple(map(str, version))] * 2


def test_its_relay_is_compiled(image: str, container: Container) -> None:
    """`--version` and the metrics of a running container report it."""
    assert once(image, "--version").stdout == f"kproxy {kproxy.__version__} (compiled)\n"
    with urllib.request.urlopen(f"http://{HOST}:{container.admin_port}/metrics", timeout=10) as page:
        (line,) = [line for line in page.read().decode().splitlines() if line.startswith("kproxy_build_info{")]
    assert 'compiled="true"' in line
