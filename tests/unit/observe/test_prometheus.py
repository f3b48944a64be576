"""kproxy.observe.prometheus: a scrape, read by Prometheus' own parsers."""

from __future__ import annotations

import gzip
import threading
from types import SimpleNamespace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from kproxy import __version__
from kproxy.compiled import is_compiled
from kproxy.observe import breaks
from kproxy.observe.counters import BOUNDS, Counters
from kproxy.observe.families import FAMILIES, PROCESS_FAMILIES, Kind
from kproxy.observe.prometheus import registry_for, render
from tests.unit.observe.everything import everything, many_series


def test_every_family_is_exported_when_it_has_a_series() -> None:
    """After everything was counted once, the page has every family with its type."""
    _, page = render(registry_for(everything()))
    types = dict(line.split()[2:4] for line in page.decode().splitlines() if line.startswith("# TYPE kproxy_"))
    assert types == {
        "kproxy_build_info": "gauge",
        "kproxy_start_time_seconds": "gauge",
        **{family.name: family.kind.value for family in FAMILIES},
        **{family.name: family.kind.value for family in PROCESS_FAMILIES},
    }


def test_nothing_is_exported_that_does_not_exist() -> None:
    """A process without a cluster exports its build information, and what is wrong with the process itself."""
    _, page = render(registry_for(Counters(started_at=5.0)))
    assert {family.name for family in parse_text(page.decode()) if family.name.startswith("kproxy_")} == {
        "kproxy_build_info",
        "kproxy_log_lines_dropped",
        "kproxy_start_time_seconds",
        "kproxy_internal_errors",
        "kproxy_shortages",
        "kproxy_reloads",
        "kproxy_config_last_reload_successful",
        "kproxy_config_last_reload_success_timestamp_seconds",
        "kproxy_loop_lag_seconds",
        "kproxy_loop_stalls",
    }


def test_values_and_labels() -> None:
    """The numbers are those of the counters, and the labels are Kafka's names."""
    registry = registry_for(everything())
    api = {"cluster": "main", "api": "Produce", "version": "12"}
    error = {**api, "error": "NOT_LEADER_OR_FOLLOWER", "error_class": "refresh-retriable"}
    assert registry.get_sample_value("kproxy_requests_total", api) == 3
    assert registry.get_sample_value("kproxy_response_errors_total", error) == 1
    assert registry.get_sample_value("kproxy_connections_active", {"cluster": "main"}) == 1
    assert registry.get_sample_value("kproxy_upstream_reachable", {"cluster": "main", "node": "1001"}) == 0
    assert registry.get_sample_value("kproxy_start_time_seconds") == 1_700_000_000.0
    [build] = [family for family in registry.collect() if family.name == "kproxy_build"]
    assert build.samples[0].labels["version"] == __version__
    assert build.samples[0].labels["compiled"] == str(is_compiled()).lower()


def test_histograms_are_cumulative() -> None:
    """Buckets include those below them, and the last equals the count."""
    counters = Counters(started_at=0.0)
    for seconds in (0.00001, 0.001, 0.001, 100.0):
        counters.cluster("main").api(1, 17).upstream.observe(seconds)
    registry = registry_for(counters)
    name, labels = "kproxy_request_upstream_duration_seconds", {"cluster": "main", "api": "Fetch", "version": "17"}
    found = [registry.get_sample_value(f"{name}_bucket", {**labels, "le": str(bound)}) for bound in BOUNDS]
    assert found == [1, 1, 1, 1] + [3] * 12
    assert registry.get_sample_value(f"{name}_bucket", {**labels, "le": "+Inf"}) == 4
    assert registry.get_sample_value(f"{name}_count", labels) == 4
    assert registry.get_sample_value(f"{name}_sum", labels) == 100.00201


def test_names_follow_prometheus_conventions() -> None:
    """Counters end in _total, histograms are in seconds, everything begins with kproxy_ and has a help sentence."""
    for family in FAMILIES:
        assert family.name.startswith("kproxy_")
        assert family.name.endswith("_total") == (family.kind is Kind.COUNTER)
        of_time = family.name.endswith("_seconds") and not family.name.endswith("_timestamp_seconds")
        assert of_time == (family.kind is Kind.HISTOGRAM)
        assert family.help.endswith(".")
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


def test_openmetrics_says_the_same() -> None:
    """The OpenMetrics page passes the strict parser and has the same samples."""
    registry = registry_for(everything())
    content_type, page = render(registry, as_openmetrics=True)
    assert content_type.startswith("application/openmetrics-text; version=1.0.0")
    strict = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parse_openmetrics(page.decode())
        for sample in family.samples
        if sample.name.startswith("kproxy_")
    }
    loose = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parse_text(render(registry)[1].decode())
        for sample in family.samples
        if sample.name.startswith("kproxy_")
    }
    assert len(strict) > 60
    assert strict == loose


def test_gzip_is_the_same_page() -> None:
    """Compressed or not, the kproxy series are equal (those of the process move on)."""
    registry = registry_for(everything())

    def ours(page: bytes) -> list[bytes]:
        return [line for line in page.splitlines() if b"process_" not in line]

    assert ours(gzip.decompress(render(registry, compress=True)[1])) == ours(render(registry)[1])


def test_label_values_are_escaped() -> None:
    """A cluster's name may have characters that are special in the format."""
    counters = Counters(started_at=0.0)
    name = 'a"b\\c\nd'
    counters.cluster(name).connection_opened()
    _, page = render(registry_for(counters))
    values = {
        sample.labels["cluster"]: sample.value
        for family in parse_text(page.decode())
        for sample in family.samples
        if sample.name == "kproxy_connections_opened_total"
    }
    assert values == {name: 1}


def test_rendering_while_counting() -> None:
    """While another thread adds series, no scrape fails, and none sees an inconsistent histogram."""
    counters = Counters(started_at=0.0)
    cluster = counters.cluster("main")
    pages: list[bytes] = []
    faults: list[BaseException] = []

    def scrapes() -> None:
        try:
            pages.extend(render(registry_for(counters))[1] for _ in range(6))
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=scrapes)
    thread.start()
    turn = 0
    while thread.is_alive():
        turn += 1
        counters.cluster(f"c{turn % 10}").protocol_error(f"reason{turn % 40}")
        cluster.api(turn % 20, turn % 5).proxy.observe(0.001)
        cluster.node(turn % 50).failed(f"reason{turn % 20}", "")
    thread.join()
    assert not faults
    assert len(pages) == 6
    for page in pages:
        samples = [sample for family in parse_text(page.decode()) for sample in family.samples]
        count = {str(s.labels): s.value for s in samples if s.name.endswith("_seconds_count")}
        top = {
            str({name: value for name, value in s.labels.items() if name != "le"}): s.value
            for s in samples
            if s.name.endswith("_bucket") and s.labels["le"] == "+Inf"
        }
        assert count == top


@pytest.mark.parametrize("as_openmetrics", [False, True])
def test_a_thread_that_renders_takes_breaks(monkeypatch: pytest.MonkeyPatch, as_openmetrics: bool) -> None:
    """Between the series of one family, too: otherwise each request beside a scrape waits for the interpreter."""
    now, begun = 0.0, list[float]()

    def perf_counter() -> float:
        nonlocal now
        now += 0.00001
        return now

    monkeypatch.setattr(breaks, "time", SimpleNamespace(perf_counter=perf_counter, sleep=begun.append))
    _, page = render(registry_for(many_series(3_000)), as_openmetrics=as_openmetrics)
    series = sum(not line.startswith(b"#") for line in page.splitlines())
    assert series >= 3_000
    assert len(begun) > series / 10
