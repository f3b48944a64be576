"""Reloads of a process that speaks TLS: its files are read again, for new connections, all of them or none."""

from __future__ import annotations

import os
import shutil
import signal
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.admin.inventory import time_shown
from kproxy.app import reloader
from kproxy.app.reload import apply
from kproxy.config import Config
from kproxy.config.tls import ClientTls
from kproxy.errors import ConfigError, KproxyError
from kproxy.local_kafka.ports import free_port
from kproxy.upstream.tls import ServerContext
from tests.support.authority import Authority, Certificate
from tests.unit.app.living import HOST, Living, living, named_itself
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker


@dataclass(frozen=True)
class Pki:
    """An authority and one of its certificates."""

    authority: Authority
    certificate: Certificate


@pytest.fixture(scope="module")
def pkis(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pki, Pki]:
    """What is there at the start, and what it is replaced by."""
    made = []
    for name in ("old", "new"):
        authority = Authority(tmp_path_factory.mktemp(name), name)
        made.append(Pki(authority, authority.signed(f"{name}-kproxy")))
    return made[0], made[1]


@dataclass
class Files:
    """The files that kproxy's settings name; `put` replaces their content."""

    directory: Path

    @property
    def tls(self) -> dict[str, str]:
        return {"certificate": str(self.directory / "tls.crt"), "key": str(self.directory / "tls.key")}

    @property
    def upstream_tls(self) -> dict[str, str]:
        return {"ca": str(self.directory / "ca.crt")}

    def cut(self, name: str) -> None:
        """Leave one half-written."""
        Path((self.tls | self.upstream_tls)[name]).write_text("-----BEGIN CERT")

    def put(self, pki: Pki) -> None:
        shutil.copy(pki.certificate.chain, self.tls["certificate"])
        shutil.copy(pki.certificate.key, self.tls["key"])
        shutil.copy(pki.authority.file, self.upstream_tls["ca"])


@pytest.fixture
def files(tmp_path: Path, pkis: tuple[Pki, Pki]) -> Files:
    made = Files(tmp_path)
    made.put(pkis[0])
    return made


class TlsBroker(ScriptedBroker):
    """Speaks TLS once it has a context."""

    context: ssl.SSLContext | None = None

    async def _serve(self, stream: Any) -> None:
        if self.context is None:
            await super()._serve(stream)
            return
        secured = trio.SSLStream(stream, self.context, server_side=True, https_compatible=True)
        await super()._serve(secured)  # type: ignore[arg-type]
        await trio.aclose_forcefully(secured)

    def show(self, pki: Pki) -> None:
        own = ClientTls(certificate=str(pki.certificate.chain), key=str(pki.certificate.key))
        self.context = ServerContext(own, "broker")._context


def described(
    broker: ScriptedBroker, admin: Any = "", grace: str = "1s", reload: dict[str, str] | None = None, **cluster: Any
) -> Config:
    """Return the settings of a process with one virtual cluster."""
    common = {"name": "c", "bootstrap_servers": f"localhost:{broker.port}", "listen": f"{HOST}:0"}
    topology = {"interval": "100ms", "grace": grace, "epoch_floor": "100ms"}
    clusters = [common | {"nodes": {"first_port": 0}} | cluster]
    admin = admin or f"{HOST}:{free_port()}"
    return Config.model_validate({"clusters": clusters, "admin": admin, "topology": topology, "reload": reload or {}})


@dataclass
class Running:
    """A process, its broker, and clients that check what they are shown."""

    alive: Living
    broker: TlsBroker
    _streams: list[trio.abc.Stream] = field(default_factory=list)

    @property
    def cluster(self) -> Any:
        return self.alive.process.clusters[0]

    def described(self, **changed: Any) -> Config:
        return described(self.broker, **{"admin": self.alive.listens} | changed)

    async def connect(self, pki: Pki | None) -> trio.abc.Stream:
        """Connect a client that trusts this authority, or one in plaintext; ask something, and read the answer."""
        stream: trio.abc.Stream = await trio.open_tcp_stream(HOST, self.alive.port())
        if pki is not None:
            context = ssl.create_default_context(cafile=str(pki.authority.file))
            stream = trio.SSLStream(stream, context, server_hostname="localhost", https_compatible=True)
        self._streams.append(stream)
        await ask(stream)
        return stream

    async def refused(self, pki: Pki | None) -> None:
        """Assert that a client that trusts this authority gets no answer."""
        with pytest.raises((trio.BrokenResourceError, AssertionError)):
            await self.connect(pki)

    async def close(self) -> None:
        for stream in self._streams:
            await trio.aclose_forcefully(stream)


HELLO = bytes.fromhex("0000000a 0012 0000 00000001 ffff")  # ApiVersions v0


async def ask(stream: trio.abc.Stream) -> None:
    """Ask for the versions; the answer begins with its size and the request's number."""
    await stream.send_all(HELLO)
    got = b""
    while len(got) < 8:
        part = await stream.receive_some(1000)
        assert part, "closed"
        got += part
    assert got[4:8] == HELLO[8:12]


@asynccontextmanager
async def running(pki: Pki | None = None, **cluster: Any) -> AsyncIterator[Running]:
    """A process whose broker shows this certificate, or speaks plaintext."""
    async with trio.open_nursery() as nursery:
        broker = TlsBroker()
        await nursery.start(broker.run)
        named_itself(broker, 1)
        if pki is not None:
            broker.show(pki)
        async with living(described(broker, **cluster)) as alive:
            await alive.until_state("ready")
            made = Running(alive, broker)
            try:
                yield made
            finally:
                with trio.CancelScope(shield=True):
                    await made.close()
        nursery.cancel_scope.cancel()


async def test_a_certificate_that_was_replaced(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """New connections get the new one from the reload on, with unchanged settings; open connections stay."""
    old, new = pkis
    async with running(tls=files.tls) as process:
        before = await process.connect(old)
        files.put(new)
        await process.connect(old)
        await process.refused(new)
        await apply(process.alive.process, process.described(tls=files.tls))
        await process.connect(new)
        await process.refused(old)
        await ask(before)
        assert process.cluster.rebootstrap.epoch.number == 0


async def test_a_certificate_that_was_replaced_and_a_hangup(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """SIGHUP has it read, as the tools that renew certificates send it."""
    async with running(tls=files.tls) as process:
        shown = process.cluster.destination.tls
        files.put(pkis[1])
        os.kill(os.getpid(), signal.SIGHUP)
        await eventually(lambda: process.cluster.destination.tls is not shown, "the reload")
        await process.connect(pkis[1])


async def test_an_authority_that_was_replaced(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """Clients' connections and kproxy's own trust the brokers' new certificate, without a new epoch."""
    old, new = pkis
    async with running(old, upstream_tls=files.upstream_tls) as process:
        before = await process.connect(None)
        process.broker.show(new)
        await process.refused(None)
        files.put(new)
        await apply(process.alive.process, process.described(upstream_tls=files.upstream_tls))
        await process.connect(None)
        await ask(before)
        await before.aclose()
        seen = process.broker.accepted
        await process.broker.drop()
        await eventually(lambda: process.broker.accepted > seen, "kproxy's own connection")
        await eventually(lambda: process.broker.requests(3) > 0, "a look at the cluster")
        await process.alive.until_state("ready")
        assert process.cluster.rebootstrap.epoch.number == 0


@pytest.mark.parametrize("broken", ["certificate", "key", "ca"])
async def test_a_file_that_cannot_be_used_refuses_the_whole_reload(
    files: Files, pkis: tuple[Pki, Pki], broken: str
) -> None:
    """Nothing changes, neither the other settings nor the other files; the old content goes on being used."""
    old, new = pkis
    settings: dict[str, Any] = {"tls": files.tls, "upstream_tls": files.upstream_tls}
    async with running(old, **settings) as process:
        before = process.alive.process.config
        contexts = process.cluster.destination.tls, process.cluster.destination.upstream_tls
        files.put(new)
        files.cut(broken)
        key = "clusters.c.upstream_tls.ca" if broken == "ca" else "clusters.c.tls.certificate"
        with pytest.raises(ConfigError) as caught:
            await apply(process.alive.process, process.described(grace="9s", **settings))
        assert caught.value.key == key
        assert process.alive.process.config is before
        assert (process.cluster.destination.tls, process.cluster.destination.upstream_tls) == contexts
        await process.connect(old)


async def test_tls_to_clients_is_switched_on_and_off(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """New connections speak what the settings say; those that are open stay as they are."""
    old, _ = pkis
    async with running() as process:
        plain = await process.connect(None)
        await apply(process.alive.process, process.described(tls=files.tls))
        secured = await process.connect(old)
        await process.refused(None)
        await apply(process.alive.process, process.described())
        await process.connect(None)
        await process.refused(old)
        await ask(plain)
        await ask(secured)
        assert process.cluster.rebootstrap.epoch.number == 0


async def test_tls_to_brokers_is_switched_on(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """It is applied only when kproxy reaches the brokers by it; otherwise nothing changes."""
    old, new = pkis
    async with running() as process:
        before = process.alive.process.config
        process.broker.show(new)
        with pytest.raises(KproxyError, match="its authority is not trusted"):
            await apply(process.alive.process, process.described(upstream_tls=files.upstream_tls))
        assert process.alive.process.config is before
        assert process.cluster.destination.upstream_tls is None
        process.broker.show(old)
        await apply(process.alive.process, process.described(upstream_tls=files.upstream_tls))
        await process.connect(None)
        await process.alive.until_state("ready")


async def until_counted(process: Running, applied: int, refused: int) -> None:
    """Wait for so many reloads since the start, and read the metrics."""
    reloads = process.alive.process.counters.reloads
    await eventually(lambda: (reloads.applied, reloads.refused) == (applied, refused), "the reload", 15)
    page = await process.alive.text("/metrics")
    assert f'kproxy_reloads_total{{result="applied"}} {applied}.0' in page
    assert f'kproxy_reloads_total{{result="refused"}} {refused}.0' in page
    assert f"kproxy_config_last_reload_successful {float(reloads.last_applied)}" in page


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need not be still for a second before they are read."""
    monkeypatch.setattr(reloader, "_SETTLED", 0.1)


@pytest.mark.usefixtures("soon")
async def test_files_that_change_are_read(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """Nobody asks for it; a half-written file changes nothing until it is complete."""
    old, new = pkis
    async with running(reload={"interval": "100ms"}, tls=files.tls) as process:
        before = await process.connect(old)
        files.cut("certificate")
        with capture_logs() as lines:
            await until_counted(process, 0, 1)
        assert "clusters.c.tls.certificate" in lines[-1]["reason"]
        await process.connect(old)
        files.put(new)
        await until_counted(process, 1, 1)
        await process.connect(new)
        await process.refused(old)
        await ask(before)


@pytest.mark.usefixtures("soon")
async def test_a_refused_configuration_stays_refused(
    files: Files, pkis: tuple[Pki, Pki], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate that is renewed makes no file good with which kproxy could not start; the next reload does."""
    old, new = pkis

    def broken() -> Config:
        raise ConfigError("clusters", "is required")

    async with running(reload={"interval": "100ms"}, tls=files.tls) as process:
        await process.connect(old)
        reloading, counters = process.alive.process.reloader, process.alive.process.counters.reloads
        assert reloading is not None
        with monkeypatch.context() as patch:
            patch.setattr(reloading, "_read", broken)
            with pytest.raises(ConfigError):
                await reloading.reload()
        files.put(new)
        await until_counted(process, 1, 1)
        await process.connect(new)
        assert not counters.last_applied
        await reloading.reload()
        assert counters.last_applied


@pytest.mark.usefixtures("soon")
async def test_a_directory_that_is_replaced(tmp_path: Path, pkis: tuple[Pki, Pki]) -> None:
    """As Kubernetes does it: the files are links into a directory that is itself a link, which is put elsewhere."""
    for number, pki in enumerate(pkis):
        (tmp_path / str(number)).mkdir()
        Files(tmp_path / str(number)).put(pki)
    (tmp_path / "..data").symlink_to("0")
    mounted = Files(tmp_path / "mounted")
    mounted.directory.mkdir()
    for name in ("tls.crt", "tls.key"):
        (mounted.directory / name).symlink_to(tmp_path / "..data" / name)
    async with running(reload={"interval": "100ms"}, tls=mounted.tls) as process:
        await process.connect(pkis[0])
        (tmp_path / "..new").symlink_to("1")
        (tmp_path / "..new").rename(tmp_path / "..data")
        await until_counted(process, 1, 0)
        await process.connect(pkis[1])


async def test_an_operator_asks(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """The answer has the settings that changed, or why none has."""
    async with running(tls=files.tls) as process:
        files.put(pkis[1])
        process.alive.config = process.described(grace="9s", tls=files.tls)
        said = await process.alive.post("/api/v1/reload", {})
        assert said == (200, {"process": ["topology.grace"], "clusters": {}, "added": [], "removed": []})
        await process.connect(pkis[1])
        files.cut("key")
        status, said = await process.alive.post("/api/v1/reload", {})
        assert status == 409
        assert said["error"].startswith("nothing has changed: clusters.c.tls.certificate: ")
        await process.connect(pkis[1])
        await until_counted(process, 1, 1)


async def test_a_certificate_that_ends_soon(tmp_path: Path) -> None:
    """A warning that does not change the state, and the moment as a metric; one that has ended degrades kproxy."""
    authority = Authority(tmp_path)
    near, ended = authority.signed("near", days=(-9, 1)), authority.signed("ended", days=(-9, -2))
    own = {"certificate": str(near.chain), "key": str(near.key)}
    async with running(tls=own) as process:
        shown = await process.alive.get("/readyz")
        ends = process.cluster.security.validities["tls"].ends
        warning = f"the certificate of tls ends at {time_shown(ends)}: renew it"
        warnings = [{"cluster": "c", "node": None, "reason": warning}]
        assert shown == {"state": "ready", "reasons": [], "warnings": warnings}
        page = await process.alive.text("/metrics")
        (line,) = [line for line in page.splitlines() if line.startswith("kproxy_certificate_expiry_timestamp_seconds")]
        assert line.startswith('kproxy_certificate_expiry_timestamp_seconds{certificate="tls",cluster="c"} ')
        assert float(line.split()[-1]) == ends
        own = {"certificate": str(ended.chain), "key": str(ended.key)}
        await apply(process.alive.process, process.described(tls=own))
        shown = await process.alive.until_state("degraded")
        assert shown["reasons"][0]["reason"].startswith("the certificate of tls has ended: valid from ")
        assert "warnings" not in shown
