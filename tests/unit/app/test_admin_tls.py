"""TLS of a process' admin port: switched on, renewed and refused by reloads, and its certificate's end."""

from __future__ import annotations

import http.client
import json
import shutil
import ssl
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.admin.inventory import time_shown
from kproxy.app import reloader
from kproxy.app.readiness import readiness
from kproxy.app.reload import apply
from kproxy.errors import ConfigError
from tests.support.authority import Authority
from tests.unit.app.living import HOST
from tests.unit.app.test_reload_tls import Files, Pki, Running, files, pkis, running
from tests.unit.relay.sockets import eventually

__all__ = ["files", "pkis"]


async def get(process: Running, pki: Pki, path: str) -> tuple[int, str]:
    """Status and page, by https; the certificate must be of this authority."""

    def blocking() -> tuple[int, str]:
        context = ssl.create_default_context(cafile=str(pki.authority.file))
        port = int(process.alive.listens.rpartition(":")[2])
        client = http.client.HTTPSConnection(HOST, port, timeout=10, context=context)
        try:
            client.request("GET", path)
            response = client.getresponse()
            return response.status, response.read().decode()
        finally:
            client.close()

    return await trio.to_thread.run_sync(blocking)


def with_tls(process: Running, tls: dict[str, str], **more: Any) -> Any:
    """The same settings, and TLS at the admin port."""
    return process.described(admin={"listen": process.alive.listens, "tls": tls}, **more)


async def test_tls_is_switched_on(files: Files, pkis: tuple[Pki, Pki]) -> None:
    """By a reload; plain HTTP is told so from then on. The certificate's end is a metric of no virtual cluster."""
    async with running() as process:
        changed = await apply(process.alive.process, with_tls(process, files.tls))
        assert changed.process == {"admin.tls"}
        assert (await get(process, pkis[0], "/livez"))[0] == 200
        assert "https://" in (await process.alive.get("/livez"))["error"]
        page = (await get(process, pkis[0], "/metrics"))[1]
        (line,) = [line for line in page.splitlines() if line.startswith("kproxy_certificate_expiry_timestamp_seconds")]
        ends = process.alive.process.counters.certificates["admin.tls"]
        assert line.startswith('kproxy_certificate_expiry_timestamp_seconds{certificate="admin.tls",cluster=""} ')
        assert float(line.split()[-1]) == ends
        await apply(process.alive.process, process.described())
        assert (await process.alive.get("/livez")) == {"state": "alive"}


async def test_a_certificate_that_was_replaced(
    files: Files, pkis: tuple[Pki, Pki], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are looked at as all others are; half-written ones change nothing."""
    monkeypatch.setattr(reloader, "_SETTLED", 0.05)
    async with running(reload={"interval": "100ms"}) as process:
        await apply(process.alive.process, with_tls(process, files.tls, reload={"interval": "100ms"}))
        before = process.alive.process.admin_security
        files.cut("certificate")
        await eventually(lambda: not process.alive.process.counters.reloads.last_applied, "the reload is refused")
        assert process.alive.process.admin_security is before
        assert (await get(process, pkis[0], "/livez"))[0] == 200
        files.put(pkis[1])
        await eventually(lambda: process.alive.process.admin_security is not before, "the new one")
        assert (await get(process, pkis[1], "/livez"))[0] == 200


async def test_a_file_that_cannot_be_read(files: Files) -> None:
    """The reload is refused, with the setting's name."""
    async with running() as process:
        shutil.rmtree(files.directory)
        with pytest.raises(ConfigError) as caught:
            await apply(process.alive.process, with_tls(process, files.tls))
        assert caught.value.key == "admin.tls.certificate"
        assert (await process.alive.get("/livez")) == {"state": "alive"}


async def test_a_certificate_that_ends(tmp_path: Path) -> None:
    """A warning before, degraded after; for the whole process."""
    authority = Authority(tmp_path)
    near, ended = authority.signed("near", days=(-9, 1)), authority.signed("ended", days=(-9, -2))
    async with running() as process:
        own = {"certificate": str(near.chain), "key": str(near.key)}
        await apply(process.alive.process, with_tls(process, own))
        ends = process.alive.process.counters.certificates["admin.tls"]
        warning = f"the certificate of admin.tls ends at {time_shown(ends)}: renew it"
        said = json.loads((await get(process, Pki(authority, near), "/readyz"))[1])
        assert said["warnings"] == [{"cluster": None, "node": None, "reason": warning}]
        own = {"certificate": str(ended.chain), "key": str(ended.key)}
        await apply(process.alive.process, with_tls(process, own))
        (reason,) = readiness_reasons(process)
        assert reason.startswith("the certificate of admin.tls has ended: valid from ")
        await apply(process.alive.process, process.described())


async def test_a_certificate_for_clients_only(tmp_path: Path) -> None:
    """It is served as it is, and nobody knows when it ends."""
    authority = Authority(tmp_path)
    wrong = authority.signed("wrong", usage="clientAuth")
    async with running() as process:
        own = {"certificate": str(wrong.chain), "key": str(wrong.key)}
        await apply(process.alive.process, with_tls(process, own))
        assert process.alive.process.counters.certificates == {}
        assert readiness_reasons(process) == []
        await apply(process.alive.process, process.described())


def readiness_reasons(process: Running) -> list[str]:
    """Why it is degraded; nobody could ask by https, where the certificate has ended."""
    return [cause.reason for cause in readiness(process.alive.process).reasons]
