"""One subscription: which are valid, which clients it matches, and how it is written."""

from __future__ import annotations

import time

import pytest

from kproxy.telemetry.errors import SubscriptionError
from kproxy.telemetry.subscription import MAX_INTERVAL_MS, MIN_INTERVAL_MS, Subscription, as_list
from kproxy.wire.generated.error_codes import ErrorCode
from tests.support.bounds import Bounds
from tests.unit.telemetry.clients import ID, JAVA, LIBRDKAFKA, UNKNOWN


def matching(match: str) -> Subscription:
    return Subscription.from_configs("s", {"match": match})


@pytest.mark.parametrize(
    ("configs", "code", "named"),
    [
        (
            {"metric": "a"},
            ErrorCode.INVALID_REQUEST,
            "unknown client metrics config 'metric', known are metrics, interval.ms, match",
        ),
        ({"interval.ms": "99"}, ErrorCode.INVALID_REQUEST, "99 is not between 100 and 3600000"),
        ({"interval.ms": "3600001"}, ErrorCode.INVALID_REQUEST, "3600001 is not between"),
        ({"interval.ms": "-100"}, ErrorCode.INVALID_REQUEST, "-100 is not between"),
        ({"interval.ms": "1_000"}, ErrorCode.INVALID_CONFIG, "'1_000' is not a whole number"),
        ({"interval.ms": "soon"}, ErrorCode.INVALID_CONFIG, "'soon' is not a whole number"),
        ({"interval.ms": ""}, ErrorCode.INVALID_CONFIG, "'' is not a whole number"),
        (
            {"match": "client=x"},
            ErrorCode.INVALID_CONFIG,
            "unknown key 'client', known are client_instance_id, client_id",
        ),
        ({"match": "client_id"}, ErrorCode.INVALID_CONFIG, "'client_id' is not of the form key=pattern"),
        ({"match": "client_id="}, ErrorCode.INVALID_CONFIG, "'client_id=' is not of the form"),
        ({"match": "client_id=a=b"}, ErrorCode.INVALID_CONFIG, "'client_id=a=b' is not of the form"),
        ({"match": "client_id=("}, ErrorCode.INVALID_CONFIG, "client_id='\\(' is no regex for RE2: missing \\)"),
        ({"match": "client_id=a(?!b)"}, ErrorCode.INVALID_CONFIG, "invalid perl operator"),
        ({"match": "client_id=\udc80"}, ErrorCode.INVALID_CONFIG, "is no regex for RE2: .*surrogates"),
        ({"match": "client_id=(a{1000}){1000}"}, ErrorCode.INVALID_CONFIG, "invalid repetition size"),
        ({"metrics": "m" * 32_768}, ErrorCode.INVALID_REQUEST, "metrics: longer than 32767 bytes"),
    ],
)
def test_statement_what_cannot_be_is_42_or_40(configs: dict[str, str], code: int, named: str) -> None:
    """telemetry.md: unknown key, bad range or empty name → 42; bad regex or match key → 40."""
    with pytest.raises(SubscriptionError, match=named) as caught:
        Subscription.from_configs("s", configs)
    assert caught.value.code == code


def test_statement_an_empty_name_is_42() -> None:
    """telemetry.md: an empty name → 42."""
    with pytest.raises(SubscriptionError, match="needs a name") as caught:
        Subscription.from_configs("", {"metrics": "*"})
    assert caught.value.code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("interval", [MIN_INTERVAL_MS, MAX_INTERVAL_MS])
def test_statement_the_interval_goes_from_100_ms_to_an_hour(interval: int) -> None:
    """telemetry.md: `interval.ms` (100..3,600,000)."""
    assert Subscription.from_configs("s", {"interval.ms": f" {interval} "}).interval_ms == interval


def test_defaults() -> None:
    """A subscription of a name only: no metrics, 300,000 ms, every client."""
    subscription = Subscription.from_configs("s", {})
    assert (subscription.metrics, subscription.interval_ms, subscription.match) == ((), 300_000, ())
    assert subscription.configs() == {}
    assert subscription.values() == {"metrics": "", "interval.ms": "300000", "match": ""}


def test_configs_and_back() -> None:
    """Blanks around the elements of a list do not count; configs that were not set stay unset."""
    subscription = Subscription.from_configs(
        "s", {"metrics": " org.apache. , other ", "match": "client_id = a.* , client_source_port=9+"}
    )
    assert subscription.metrics == ("org.apache.", "other")
    assert subscription.match == (("client_id", "a.*"), ("client_source_port", "9+"))
    assert subscription.configs() == {"metrics": "org.apache.,other", "match": "client_id=a.*,client_source_port=9+"}
    assert Subscription.from_configs("s", subscription.configs()) == subscription


def test_made_from_a_configuration_file_all_is_set() -> None:
    """Every config has a source other than the default."""
    assert Subscription("s", metrics=("*",)).configs() == {"metrics": "*", "interval.ms": "300000", "match": ""}


@pytest.mark.parametrize(
    ("match", "matches"),
    [
        ("client_id=orders", True),
        ("client_id=order", False),
        ("client_id=rders", False),
        ("client_id=ord.*", True),
        ("client_software_name=apache-kafka-java", True),
        ("client_software_version=4[.]3[.]0", True),
        ("client_software_version=4", False),
        ("client_source_address=10[.]0[.]0[.].*", True),
        ("client_source_port=40001", True),
        ("client_source_port=4000", False),
        ("client_instance_id=tpzDWnpUR5Cqacwr1O5FOA", True),
        (f"client_instance_id={ID}", True),
        ("client_instance_id=tpz", False),
    ],
)
def test_statement_every_key_and_the_whole_value(match: str, matches: bool) -> None:
    """telemetry.md: the match keys; the regex must match the whole value. An id in both of its written forms."""
    assert matching(match).matches(JAVA) is matches


def test_statement_patterns_are_anded() -> None:
    """telemetry.md: ANDed."""
    assert matching("client_id=orders,client_software_name=apache.*").matches(JAVA)
    assert not matching("client_id=orders,client_software_name=librdkafka").matches(JAVA)


@pytest.mark.parametrize("key", ["client_id", "client_software_name", "client_software_version"])
def test_statement_a_missing_attribute_fails(key: str) -> None:
    """telemetry.md: a missing attribute fails, even where anything would match; an empty one does not."""
    assert not matching(f"{key}=.*").matches(UNKNOWN)
    assert matching(f"{key}=.*").matches(UNKNOWN._replace(client_id="", software_name="", software_version=""))


def test_statement_no_match_is_everyone() -> None:
    """telemetry.md: no match = everyone."""
    assert all(Subscription("s").matches(info) for info in (JAVA, LIBRDKAFKA, UNKNOWN))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a|a?)*b", "(.*){100}(x+x+)+y", "(a|aa)+c"])
def test_a_pattern_that_backtracks_badly_is_linear(pattern: str, bounds: Bounds) -> None:
    """A pattern that keeps Python's and Java's engines busy for centuries takes RE2 less than a tick."""
    subscription = matching(f"client_id={pattern}")
    info = JAVA._replace(client_id="a" * 30_000 + "!")
    began = time.process_time()
    assert not subscription.matches(info)
    bounds.below(time.process_time() - began, 0.2, "CPU seconds of a match")


def test_a_list_of_nothing() -> None:
    """Kafka's LIST of an empty value has no element, not an empty one."""
    assert (as_list(""), as_list("  "), as_list("a,,b")) == ((), (), ("a", "", "b"))
