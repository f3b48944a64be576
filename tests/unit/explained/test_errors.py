"""kproxy.explained.errors: every code of Kafka has its texts, once, and the class that the proxy counts it by."""

from __future__ import annotations

from collections import Counter

import pytest

from kproxy.errors import ErrorClass
from kproxy.explained.classes import CLIENT, NAMED, UNNAMED
from kproxy.explained.errors import MODULES, TEXTS, explain, explained
from kproxy.wire.apis import APIS
from kproxy.wire.error_codes import classify
from kproxy.wire.generated.error_codes import ErrorCode
from tests.support.every import every


def test_every_code_has_texts() -> None:
    """A code that a new Kafka version brings fails here until it is explained; so does one that is gone."""
    assert sorted(ErrorCode) == sorted(TEXTS)


def test_no_code_is_explained_twice() -> None:
    """Two modules would contradict each other."""
    counted = Counter(code for module in MODULES for code in module.TEXTS)
    assert [code.name for code, times in counted.items() if times > 1] == []


@every("code", TEXTS)
def test_texts_are_sentences(code: ErrorCode) -> None:
    """Each begins with a capital (kproxy's own name apart), ends with a full stop, and fits into a table's cell."""
    text = TEXTS[code]
    for said in filter(None, (text.meaning, text.advice, text.client, text.kproxy)):
        assert said.endswith(".")
        assert said[0].isupper()
        assert "|" not in said
        assert "  " not in said
        assert "\n" not in said


def test_no_two_codes_mean_the_same() -> None:
    """A person must be able to tell them apart."""
    counted = Counter(text.meaning for text in TEXTS.values())
    assert [meaning for meaning, times in counted.items() if times > 1] == []


@every("code", [code for code in ErrorCode if code is not ErrorCode.NONE])
def test_classes_are_those_that_are_counted(code: ErrorCode) -> None:
    """Without an API, and in the answer of each one, with no other class left unsaid."""
    found = explain(code)
    assert found.error_class is classify(code)
    for api in APIS.values():
        assert explain(code, api.key).error_class is classify(code, api.key)
        assert found.of_apis.get(api.name, found.error_class) is classify(code, api.key)


def test_what_clients_retry() -> None:
    """The flag is the Java exception's, and NONE is no error."""
    assert {found.code for found in explained() if found.retriable} == {code for code in ErrorCode if code.retriable}
    assert explain(0).error_class is None
    assert explain(0).client == "It takes the response as a success."


def test_a_class_has_its_codes() -> None:
    """Every code but NONE is in one class, and 48 in two."""
    counted = Counter(found.code for of in ErrorClass for found in explained(of))
    assert counted == Counter({code: 1 + (code == 48) for code in ErrorCode if code})
    assert [found.code for found in explained(ErrorClass.ABORTABLE)] == [48, 120]
    assert [found.code for found in explained()] == sorted(ErrorCode)


def test_invalid_txn_state_by_api() -> None:
    """The only code whose class depends on the API says so, and what a client does follows the API."""
    assert explain(48).of_apis == {"Produce": ErrorClass.ABORTABLE}
    assert [found.code for found in explained() if found.of_apis] == [48]
    assert explain(48).client.startswith(CLIENT[ErrorClass.APPLICATION_RECOVERABLE])
    assert explain(48, 0).client.startswith(CLIENT[ErrorClass.ABORTABLE])
    assert explain(48, 0).of_apis == {}


def test_what_the_kip_does_not_name() -> None:
    """Its codes are told apart from those that only its rule makes application-recoverable."""
    assert {code for code in ErrorCode if classify(code) is ErrorClass.APPLICATION_RECOVERABLE} > NAMED
    assert explain(ErrorCode.ILLEGAL_GENERATION).client.startswith(CLIENT[ErrorClass.APPLICATION_RECOVERABLE])
    assert explain(ErrorCode.TOPIC_ALREADY_EXISTS).client == UNNAMED
    assert (
        explain(ErrorCode.REBALANCE_IN_PROGRESS).client == f"{UNNAMED} {TEXTS[ErrorCode.REBALANCE_IN_PROGRESS].client}"
    )


@pytest.mark.parametrize("code", [-32768, -2, len(ErrorCode) - 1, 32767])
def test_a_code_that_nobody_knows(code: int) -> None:
    """It is application-recoverable by KIP-1050's rule, and has its number for a name."""
    found = explain(code)
    assert (found.known, found.name, found.retriable) == (False, str(code), False)
    assert found.error_class is ErrorClass.APPLICATION_RECOVERABLE
    assert found.client == UNNAMED
