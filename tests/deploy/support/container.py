"""Containers of kproxy's image, as locked down as Kubernetes' restricted profile requires."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support import tools
from tests.support.wait import until

PODMAN = ("podman", "--runtime", "runc")
LOCKED = (
    *("--network", "host", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"),
    # A timer of systemd would run the health check; the tests run it themselves.
    *("--no-healthcheck", "--log-driver", "k8s-file", "--pull", "never"),
)
MAX_PROCESSES = 4096
_numbers = itertools.count(1)


def _limits() -> tuple[str, ...]:
    """Return limits within this process' own: podman would ask for higher ones, which a sandbox refuses."""
    files, processes = resource.getrlimit(resource.RLIMIT_NOFILE)[1], resource.getrlimit(resource.RLIMIT_NPROC)[1]
    limits = {"nofile": files, "nproc": processes if 0 <= processes < MAX_PROCESSES else MAX_PROCESSES}
    return tuple(part for name, limit in limits.items() for part in ("--ulimit", f"{name}={limit}:{limit}"))


def once(image: str, *arguments: str, entrypoint: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the image to its end, locked down; return its outputs and exit code."""
    entry = ("--entrypoint", entrypoint) if entrypoint else ()
    return tools.run(*PODMAN, "run", "--rm", *LOCKED, *_limits(), *entry, image, *arguments)


class Container:
    """A kproxy in a container of the host's network; ready inside the `with` block, removed after it."""

    def __init__(
        self,
        image: str,
        admin_port: int,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        mounts: Mapping[Path, str] | None = None,
    ) -> None:
        self.name = f"kproxy-test-{os.getpid()}-{next(_numbers)}"
        self.admin_port = admin_port
        variables = [part for name, value in (env or {}).items() for part in ("--env", f"{name}={value}")]
        volumes = [part for source, target in (mounts or {}).items() for part in ("--volume", f"{source}:{target}:ro")]
        options = ("--detach", "--name", self.name, *LOCKED, *_limits())
        self._command = (*PODMAN, "run", *options, *variables, *volumes, image, *arguments)

    def get(self, path: str) -> tuple[int, bytes]:
        """Return status and body of a GET on the admin port."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    @property
    def ready(self) -> bool:
        """True when /readyz answers 200; fails with the container's log when it has ended."""
        assert self.state["Running"], f"the container ended with {self.state['ExitCode']}:\n{self.log()}"
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    @property
    def state(self) -> dict[str, Any]:
        """Podman's State: Running, Pid, ExitCode."""
        found: dict[str, Any] = json.loads(tools.output("podman", "inspect", "--format", "{{json .State}}", self.name))
        return found

    @property
    def pid(self) -> int:
        """The process id, on the host, of the container's PID 1."""
        return int(self.state["Pid"])

    def status(self, key: str) -> str:
        """Return a line of PID 1's /proc status, as `Uid` or `CapEff`."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith(f"{key}:"))

    def execute(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command inside."""
        return tools.run(*PODMAN, "exec", self.name, *command)

    def log(self) -> str:
        """Return both outputs so far."""
        done = tools.run("podman", "logs", self.name)
        return done.stdout + done.stderr

    def terminate(self) -> None:
        """Send SIGTERM to PID 1."""
        tools.output(*PODMAN, "kill", "--signal", "TERM", self.name)

    def wait(self, timeout: float) -> int:
        """Wait for its end; return the exit code."""
        until(lambda: not self.state["Running"], f"{self.name} ended", timeout)
        return int(self.state["ExitCode"])

    def __enter__(self) -> Self:
        try:
            tools.output(*self._command)
            until(lambda: self.ready, f"{self.name} ready", timeout=30)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        tools.run(*PODMAN, "rm", "--force", "--time", "0", "--ignore", self.name)
