"""deploy/tools/install: idempotent, with clear messages about what it cannot install."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support import tools


def _path_with_only(directory: Path, *commands: str) -> str:
    for command in commands:
        found = shutil.which(command)
        assert found is not None
        (directory / command).symlink_to(found)
    return str(directory)


def test_installs_once() -> None:
    """A second call finds what the first one made, and prints nothing."""
    tools.ensure("hadolint")
    done = tools.run(tools.INSTALL, "hadolint", timeout=10)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_refuses_an_unknown_tool() -> None:
    """A misspelt name is reported in one line, with the right ones."""
    done = tools.run(tools.INSTALL, "helmet")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "deploy/tools/install: unknown tool 'helmet': "
        "helm, hadolint, kubernetes-validate, kube-apiserver, otelcol, promtool, haproxy, chromium, etcd, kerberos, "
        "kcat or containers"
    ]


def test_names_the_packages_it_cannot_install(tmp_path: Path) -> None:
    """Where apt-get is missing, one line says which packages to install."""
    path = _path_with_only(tmp_path, "bash", "env", "dirname", "mkdir", "id", "openssl")
    done = tools.run(tools.INSTALL, "etcd", env={"PATH": path, "KPROXY_TOOLS": str(tmp_path / "tools")})
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "deploy/tools/install: missing: etcd-server (as root: apt-get install --no-install-recommends etcd-server)"
    ]


def test_names_the_compiler_it_needs(tmp_path: Path) -> None:
    """Where Go is missing, one line says so."""
    path = _path_with_only(tmp_path, "bash", "env", "dirname", "mkdir", "id", "flock", "rm")
    done = tools.run(tools.INSTALL, "helm", env={"PATH": path, "KPROXY_TOOLS": str(tmp_path / "tools")})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("deploy/tools/install: go is missing: install Go")
