"""A real Prometheus scrapes an admin port over TLS, and verifies it, as the chart's ServiceMonitor has it do."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from kproxy.local_kafka.ports import free_port
from tests.support import tools
from tests.support.admin_serving import Serving, secured
from tests.support.authority import Authority
from tests.support.wait import until

NAME = "kproxy.kafka.svc"


def scraped(directory: Path, port: int, tls: dict[str, Any]) -> dict[str, Any]:
    """The target's state, once Prometheus has scraped it."""
    tools.ensure("promtool")  # of the same package
    target: dict[str, Any] = {"job_name": "kproxy", "scheme": "https", "tls_config": tls, "scrape_interval": "1s"}
    target |= {"scrape_timeout": "1s", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
    config, web, log = directory / "prometheus.yml", free_port(), directory / "prometheus.log"
    config.write_text(yaml.safe_dump({"scrape_configs": [target]}))
    flags = [f"--config.file={config}", f"--storage.tsdb.path={directory / 'data'}"]
    flags.append(f"--web.listen-address=127.0.0.1:{web}")
    with log.open("wb") as output, subprocess.Popen(["prometheus", *flags], stdout=output, stderr=output) as process:
        try:
            return until(lambda: _seen(web), "a scrape", timeout=60)
        finally:
            process.kill()


def _seen(web: int) -> dict[str, Any]:
    """The target, or {} as long as no scrape has ended.

    A scrape that its own timeout cuts off, on a machine that is busy, says nothing of TLS: the next one may.
    """
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{web}/api/v1/targets", timeout=5) as answer:
            (target,) = json.load(answer)["data"]["activeTargets"]
    except (OSError, ValueError):
        return {}
    ended = target["health"] != "unknown" and "deadline exceeded" not in target["lastError"]
    return dict(target) if ended else {}


def test_prometheus_scrapes_over_tls(tmp_path: Path) -> None:
    """By the authority's file and the certificate's name; without the name it refuses, so it does verify."""
    authority = Authority(tmp_path)
    with Serving(secured(authority, authority.signed("kproxy", f"DNS:{NAME}"))) as serving:
        named = {"ca_file": str(authority.file), "server_name": NAME}
        target = scraped(tmp_path, serving.port, named)
        assert (target["health"], target["lastError"]) == ("up", "")
        target = scraped(tmp_path, serving.port, {"ca_file": str(authority.file)})
        assert (target["health"], "certificate" in target["lastError"]) == ("down", True)
