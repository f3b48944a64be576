"""Config resources of type CLIENT_METRICS, as Kafka's tools alter, describe and list them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kproxy.telemetry.config_resource import (
    APPEND,
    DELETE,
    MAX_SUBSCRIPTIONS,
    SET,
    SUBTRACT,
    Change,
    alter,
    alter_incremental,
    describe,
    list_resources,
    make,
)
from kproxy.telemetry.errors import SubscriptionError
from kproxy.telemetry.subscription import Subscription
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated.alter_configs_request import AlterableConfig as Config
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.incremental_alter_configs_request import AlterableConfig

KEPT = Subscription.from_configs("s", {"metrics": "a,b", "interval.ms": "1000"})


def kept() -> Subscriptions:
    subscriptions = Subscriptions()
    subscriptions.put(KEPT)
    return subscriptions


def operations(*parts: tuple[str, int, str | None]) -> Sequence[AlterableConfig]:
    return [AlterableConfig(name=key, config_operation=operation, value=value) for key, operation, value in parts]


def after(*parts: tuple[str, int, str | None]) -> dict[str, str] | None:
    """The configs of a resource with metrics a and b each second, after some operations; None if it was deleted."""
    change = alter_incremental(kept(), "s", operations(*parts))
    assert change is not None
    return change.subscription.configs() if change.subscription else None


def refused(*parts: tuple[str, int, str | None], name: str = "s", of: Subscriptions | None = None) -> tuple[int, str]:
    with pytest.raises(SubscriptionError) as caught:
        alter_incremental(kept() if of is None else of, name, operations(*parts))
    return caught.value.code, caught.value.message


def test_set_and_delete() -> None:
    """Configs that are not named stay."""
    assert after(("metrics", SET, "*"), ("match", SET, "client_id=x")) == {
        "metrics": "*",
        "interval.ms": "1000",
        "match": "client_id=x",
    }
    assert after(("interval.ms", DELETE, None)) == {"metrics": "a,b"}
    assert after(("interval.ms", DELETE, ""), ("match", DELETE, None)) == {"metrics": "a,b"}


def test_append_and_subtract() -> None:
    """On lists: present elements are not appended again, absent ones are not missed."""
    assert after(("metrics", APPEND, "b,c")) == {"metrics": "a,b,c", "interval.ms": "1000"}
    assert after(("metrics", SUBTRACT, "b,c")) == {"metrics": "a", "interval.ms": "1000"}
    assert after(("match", APPEND, "client_id=x")) == {"metrics": "a,b", "interval.ms": "1000", "match": "client_id=x"}


def test_statement_deleting_the_last_key_deletes_the_resource() -> None:
    """telemetry.md: deleting the last key deletes the resource."""
    assert after(("metrics", DELETE, None), ("interval.ms", DELETE, None)) is None
    assert alter(kept(), "s", []) == Change("s", None)


def test_what_changes_nothing() -> None:
    """The same values again, or a deletion of an absent config: nothing to store, and no client is disturbed."""
    assert alter_incremental(kept(), "s", operations(("metrics", SET, " a , b"))) is None
    assert alter_incremental(kept(), "new", operations(("metrics", DELETE, None))) is None
    assert alter_incremental(kept(), "s", operations(("unheard.of", DELETE, None))) is None


@pytest.mark.parametrize(
    ("parts", "code", "named"),
    [
        ([("metrics", SET, "a"), ("metrics", DELETE, None)], ErrorCode.INVALID_REQUEST, "twice"),
        ([("metrics", SET, None)], ErrorCode.INVALID_REQUEST, "null is no value of metrics"),
        ([("metrics", 9, "a")], ErrorCode.INVALID_REQUEST, "unknown operation 9 on metrics"),
        ([("interval.ms", APPEND, "5")], ErrorCode.INVALID_CONFIG, "interval.ms is no list"),
        ([("unheard.of", SUBTRACT, "5")], ErrorCode.INVALID_CONFIG, "unheard.of is no list"),
        ([("unheard.of", SET, "5")], ErrorCode.INVALID_REQUEST, "unknown client metrics config 'unheard.of'"),
        ([("interval.ms", SET, "99")], ErrorCode.INVALID_REQUEST, "99 is not between"),
        ([("interval.ms", SET, "")], ErrorCode.INVALID_CONFIG, "'' is not a whole number"),
        ([("metrics", SET, "x"), ("match", SET, "client_id=(")], ErrorCode.INVALID_CONFIG, "no regex"),
        ([("metrics", APPEND, "m" * 32_767)], ErrorCode.INVALID_REQUEST, "metrics: longer than 32767 bytes"),
    ],
)
def test_statement_what_is_refused(parts: list[tuple[str, int, str | None]], code: int, named: str) -> None:
    """telemetry.md: unknown key, bad range → 42; bad regex or match key → 40; the rest as Kafka's controller."""
    assert refused(*parts)[0] == code
    assert named in refused(*parts)[1]


def test_an_empty_name() -> None:
    """telemetry.md: empty name → 42."""
    assert refused(("metrics", SET, "*"), name="")[0] == ErrorCode.INVALID_REQUEST


def test_what_the_configuration_file_sets_is_changed_there() -> None:
    """A change that the next start would undo is refused; an error in the change itself is reported first."""
    fixed = Subscriptions([KEPT])
    assert refused(("metrics", SET, "*"), of=fixed) == (
        ErrorCode.POLICY_VIOLATION,
        "s stands in kproxy's configuration: change it there",
    )
    assert refused(("metrics", 9, "*"), of=fixed)[0] == ErrorCode.INVALID_REQUEST


def test_there_are_so_many_and_no_more() -> None:
    """Each subscription is matched with every kind of client. At the limit, present ones can still be changed."""
    full = Subscriptions()
    for number in range(MAX_SUBSCRIPTIONS):
        full.put(Subscription(f"s{number}"))
    assert refused(("metrics", SET, "*"), name="one more", of=full)[0] == ErrorCode.POLICY_VIOLATION
    assert alter_incremental(full, "s1", operations(("metrics", SET, "*"))) is not None


def test_altered_whole() -> None:
    """AlterConfigs: configs that are not named go back to their default."""
    change = alter(kept(), "s", [Config(name="match", value="client_id=x")])
    assert change == Change("s", Subscription.from_configs("s", {"match": "client_id=x"}))
    with pytest.raises(SubscriptionError, match="null is no value of match") as caught:
        alter(kept(), "s", [Config(name="match", value=None)])
    assert caught.value.code == ErrorCode.INVALID_REQUEST
    with pytest.raises(SubscriptionError, match="twice"):
        alter(kept(), "s", [Config(name="match", value="")] * 2)


def test_a_change_takes_effect_when_it_is_made() -> None:
    """Computing a change does not apply it: a change that is only to be validated is not made."""
    subscriptions = kept()
    change = alter_incremental(subscriptions, "t", operations(("metrics", SET, "*")))
    assert (list_resources(subscriptions), change is None) == (["s"], False)
    assert change is not None
    make(subscriptions, change)
    assert list_resources(subscriptions) == ["s", "t"]
    make(subscriptions, Change("s", None))
    assert list_resources(subscriptions) == ["t"]


def test_statement_set_values_have_source_7_and_defaults_5() -> None:
    """telemetry.md: DescribeConfigs (set values have source 7, defaults 5); the rest when asked for."""
    plain = describe(kept(), "s", None, synonyms=False, documentation=False)
    described = [(one.name, one.value, one.config_source, one.config_type) for one in plain.configs]
    assert described == [("metrics", "a,b", 7, 7), ("interval.ms", "1000", 7, 3), ("match", "", 5, 7)]
    assert (plain.error_code, plain.resource_type, plain.resource_name) == (0, 16, "s")
    assert not any(one.synonyms or one.documentation or one.read_only or one.is_sensitive for one in plain.configs)
    full = describe(kept(), "s", [], synonyms=True, documentation=True)
    assert [[(s.name, s.value, s.source) for s in one.synonyms] for one in full.configs] == [
        [("metrics", "a,b", 7)],
        [("interval.ms", "1000", 7)],
        [],
    ]
    assert all(one.documentation for one in full.configs)


def test_the_first_version_says_what_is_a_default() -> None:
    """DescribeConfigs v0 has no sources."""
    found = describe(kept(), "s", None, synonyms=False, documentation=False, sources=False)
    assert [(one.name, one.is_default) for one in found.configs] == [
        ("metrics", False),
        ("interval.ms", False),
        ("match", True),
    ]


def test_only_the_keys_that_are_asked_for() -> None:
    """Unknown keys are left out, as at a broker."""
    found = describe(kept(), "s", ["match", "unheard.of"], synonyms=False, documentation=False)
    assert [one.name for one in found.configs] == ["match"]


def test_what_is_not_there_has_defaults() -> None:
    """As at a broker, which does not report that the resource does not exist; but the name must not be empty."""
    found = describe(Subscriptions(), "nobody", None, synonyms=True, documentation=False)
    assert [(one.value, one.config_source) for one in found.configs] == [("", 5), ("300000", 5), ("", 5)]
    with pytest.raises(SubscriptionError, match="needs a name"):
        describe(Subscriptions(), "", None, synonyms=False, documentation=False)


def test_those_of_the_configuration_file_are_read_only() -> None:
    """A tool can see that before it tries to alter one."""
    found = describe(Subscriptions([KEPT]), "s", None, synonyms=False, documentation=False)
    assert all(one.read_only for one in found.configs)
