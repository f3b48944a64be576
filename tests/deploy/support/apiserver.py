"""A real Kubernetes API server on loopback: etcd and kube-apiserver; no kubelet and no controllers, so no pod runs."""

from __future__ import annotations

import json
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from kproxy.local_kafka.ports import free_ports
from kproxy.local_kafka.processes import kill_group, spawn
from tests.support import tools
from tests.support.wait import until

TOKEN: Final = "test-admin"
HOST: Final = "127.0.0.1"


class Refused(AssertionError):
    """The API server refused an object; the message is the server's."""


class ApiServer:
    """An API server that runs inside the `with` block; `kubeconfig` is an administrator's."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._etcd_port, self._peer_port, self.port = free_ports(3)
        self.kubeconfig = directory / "kubeconfig"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._tls: ssl.SSLContext | None = None

    @property
    def authority(self) -> Path:
        """The certificate that the server's is trusted by."""
        return self.directory / "certificates" / "apiserver.crt"

    def request(
        self, method: str, path: str, body: object | None = None, kind: str = "application/json", token: str = TOKEN
    ) -> Any:
        """Return the JSON answer to a request; raise Refused with the server's message for an error."""
        request = urllib.request.Request(
            f"https://{HOST}:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": kind},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=30, context=self._tls) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(f"{method} {path}: {_message(error.read())}") from None

    def dry_run(self, found: dict[str, Any], namespace: str) -> Any:
        """Return what the server would store for an object; it refuses unknown and doubled fields, too."""
        path = self._collection(found["apiVersion"], found["kind"], found["metadata"].get("namespace", namespace))
        return self.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", found)

    def create(self, found: dict[str, Any], namespace: str = "default") -> Any:
        """Store an object."""
        return self.request("POST", self._collection(found["apiVersion"], found["kind"], namespace), found)

    def token_of(self, account: str, namespace: str) -> str:
        """Return a new token of a service account, as a kubelet gets it for a pod."""
        wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        return str(self.request("POST", path, wanted)["status"]["token"])

    def listed(self, api_version: str, kind: str, namespace: str) -> list[dict[str, Any]]:
        """Return the objects of a kind in a namespace."""
        items: list[dict[str, Any]] = self.request("GET", self._collection(api_version, kind, namespace))["items"]
        return items

    def _collection(self, api_version: str, kind: str, namespace: str) -> str:
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        for resource in self.request("GET", root)["resources"]:
            if resource["kind"] == kind and "/" not in resource["name"]:
                scope = f"/namespaces/{namespace}" if resource["namespaced"] else ""
                return f"{root}{scope}/{resource['name']}"
        raise Refused(f"no kind {kind} in {api_version}")

    def __enter__(self) -> Self:
        try:
            self._start_etcd()
            self._start_apiserver()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _start_etcd(self) -> None:
        client, peer = f"http://{HOST}:{self._etcd_port}", f"http://{HOST}:{self._peer_port}"
        options = {
            "data-dir": str(self.directory / "etcd"),
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "logger": "zap",
        }
        self._spawn("etcd", "etcd", options)

    def _start_apiserver(self) -> None:
        certificates = self.directory / "certificates"
        certificates.mkdir()
        key = certificates / "service-accounts.key"
        tools.output("openssl", "genrsa", "-out", key, "2048")
        tokens = certificates / "tokens.csv"
        tokens.write_text(f"{TOKEN},admin,admin,system:masters\n")
        issuer = f"https://{HOST}:{self.port}"
        options = {
            "etcd-servers": f"http://{HOST}:{self._etcd_port}",
            "bind-address": HOST,
            "advertise-address": HOST,
            "secure-port": str(self.port),
            "cert-dir": str(certificates),
            "service-account-issuer": issuer,
            "service-account-key-file": str(key),
            "service-account-signing-key-file": str(key),
            "token-auth-file": str(tokens),
            "authorization-mode": "RBAC",
            "service-cluster-ip-range": "10.96.0.0/16",
            # No controller makes service accounts here.
            "disable-admission-plugins": "ServiceAccount",
        }
        server = self._spawn("apiserver", tools.ensure("kube-apiserver"), options)
        until(lambda: self._alive(server) and self.authority.exists(), "the API server's certificate", 60)
        self._write_kubeconfig(issuer, self.authority)
        self._tls = ssl.create_default_context(cafile=str(self.authority))
        until(lambda: self._alive(server) and self._is_ready(), "the API server ready", 120)

    def _is_ready(self) -> bool:
        try:
            return bool(self.request("GET", "/api/v1/namespaces/default"))
        except (OSError, Refused):
            return False

    def _alive(self, process: subprocess.Popen[bytes]) -> bool:
        log = self.directory / "apiserver.log"
        assert process.poll() is None, f"kube-apiserver ended:\n{log.read_text()[-3000:]}"
        return True

    def _spawn(self, name: str, program: str, options: dict[str, str]) -> subprocess.Popen[bytes]:
        command = [program, *(f"--{option}={value}" for option, value in options.items())]
        process = spawn(command, self.directory / f"{name}.log")
        self._processes.append(process)
        return process

    def _stop(self) -> None:
        while self._processes:
            kill_group(self._processes.pop())

    def _write_kubeconfig(self, server: str, authority: Path) -> None:
        cluster = {"server": server, "certificate-authority": str(authority)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        }
        self.kubeconfig.write_text(json.dumps(config))
        self.kubeconfig.chmod(0o600)


def _message(answer: bytes) -> str:
    """Return why the server refuses: a Status, or plain text where it does not know the path at all."""
    try:
        return str(json.loads(answer)["message"])
    except ValueError:
        return answer.decode(errors="replace").strip()
