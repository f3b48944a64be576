"""A real KDC, MIT's, with a user and the brokers' principal, and a broker that takes clients with its tickets."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kproxy.local_kafka import jars, java, ports
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.cluster import Cluster
from kproxy.local_kafka.processes import kill_group, spawn
from tests.support import tools
from tests.support.wait import until

NODE_ID: Final = 7
REALM: Final = "KPROXY.TEST"
USER: Final = "alice"
PASSWORD: Final = "a-password-that-no-log-shows"
SERVER: Final = "localhost"
"""The host in the brokers' principal: what 127.0.0.1 is called, for Java asks for a ticket by that name."""
_SYSTEM: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
"""Where Debian's packages have their commands."""
_LOGIN: Final = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"


class Kdc:
    """The KDC of a realm, on a free port of the loopback interface; its files are in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        tools.ensure("kerberos")
        self._directory = directory
        self.port = ports.free_port()
        self.config = directory / "krb5.conf"
        """What every client and server has of the realm."""
        self.config.write_text(
            f"[libdefaults]\ndefault_realm = {REALM}\ndns_lookup_kdc = false\ndns_lookup_realm = false\nrdns = false\n"
            f"udp_preference_limit = 1\n[realms]\n{REALM} = {{\n kdc = {HOST}:{self.port}\n}}\n"
        )
        (directory / "kdc.conf").write_text(
            f"[kdcdefaults]\nkdc_listen = {HOST}:{self.port}\nkdc_tcp_listen = {HOST}:{self.port}\n"
            f"[realms]\n{REALM} = {{\n database_name = {directory}/principal\n"
            f" key_stash_file = {directory}/stash\n}}\n"
        )
        self._environment = {
            **os.environ,
            "PATH": _SYSTEM,
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(directory / "kdc.conf"),
        }

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Make the realm with its principals, and serve it."""
        self._run("kdb5_util", "create", "-s", "-P", "the master key")
        self._admin(f"addprinc -pw {PASSWORD} {USER}")
        self._admin(f"addprinc -randkey {self.service}")
        for principal in (USER, self.service):
            self._admin(f"ktadd -norandkey -k {self.keytab(principal)} {principal}")
        process = spawn(["/usr/sbin/krb5kdc", "-n"], self._directory / "kdc.log", env=self._environment)
        try:
            until(self._listens, "the KDC serves")
            yield
        finally:
            kill_group(process)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.port)) == 0

    @property
    def service(self) -> str:
        """The brokers' principal."""
        return f"kafka/{SERVER}"

    def keytab(self, principal: str) -> Path:
        """Return the file with the keys of a principal."""
        return self._directory / f"{principal.replace('/', '-')}.keytab"

    def jaas(self, principal: str) -> str:
        """Return how Java logs in as a principal."""
        return f'{_LOGIN} keyTab="{self.keytab(principal)}" principal="{principal}@{REALM}";'

    @property
    def option(self) -> str:
        """The JVM's option by which it finds the realm."""
        return f"-Djava.security.krb5.conf={self.config}"

    def _admin(self, query: str) -> None:
        self._run("kadmin.local", "-q", query)

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


@contextmanager
def kerberized(kdc: Kdc, release: jars.Release) -> Iterator[Cluster]:
    """Yield a broker whose listener at `front_port` takes clients by GSSAPI alone."""
    listener = "listener.name.front"
    settings = {
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT,FRONT:SASL_PLAINTEXT",
        f"{listener}.sasl.enabled.mechanisms": "GSSAPI",
        f"{listener}.sasl.kerberos.service.name": "kafka",
        f"{listener}.gssapi.sasl.jaas.config": kdc.jaas(kdc.service),
    }
    cluster = Cluster(release, (NODE_ID,), settings=settings, front=True, options=(*java.QUICK, kdc.option))
    broker = cluster.brokers[NODE_ID]
    with (broker.directory / "server.properties").open("a") as properties:  # the last line of a name counts
        listeners = {"CLIENT": broker.port, "FRONT": broker.front_port}
        if release is not jars.KAFKA_3_9:
            listeners["CONTROLLER"] = broker.controller_port
        properties.write("advertised.listeners=" + ",".join(f"{name}://{HOST}:{at}" for name, at in listeners.items()))
    with cluster:
        yield cluster
