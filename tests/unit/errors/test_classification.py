"""kproxy.errors.classify: codes, and the errors of three real client libraries, by what an application should do."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import aiokafka.errors
import confluent_kafka
import kafka.errors
import pytest
from confluent_kafka.error import ConsumeError, ProduceError

from kproxy.errors import ErrorClass, classify
from kproxy.errors.libraries import EXCEPTIONS, LIBRDKAFKA
from kproxy.wire.error_codes import ERROR_CODES
from kproxy.wire.error_codes import classify as of_the_wire
from tests.support.every import every
from tests.unit.wire.test_error_codes import TABLE

RETRIABLE, REFRESH, ABORTABLE = ErrorClass.RETRIABLE, ErrorClass.REFRESH_RETRIABLE, ErrorClass.ABORTABLE
RECOVERABLE, CONFIGURATION = ErrorClass.APPLICATION_RECOVERABLE, ErrorClass.INVALID_CONFIGURATION
KafkaError = confluent_kafka.KafkaError


def test_it_comes_without_the_proxy() -> None:
    """An application that imports it loads no part of the proxy's runtime, and nothing but the standard library."""
    script = "import sys; old = {*sys.modules}; import kproxy.errors; print(*({*sys.modules} - old))"
    said = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout.split()
    roots = {name.partition(".")[0] for name in said}
    assert "kproxy" in roots
    assert roots - {"kproxy"} <= sys.stdlib_module_names
    assert {name for name in said if name.startswith("kproxy.") and not name.startswith("kproxy.errors")} == set()


@every(("code", "expected"), [(int(code), of) for of, codes in TABLE.items() for code in codes.split()])
def test_codes_are_of_the_kips_classes(code: int, expected: ErrorClass) -> None:
    """Every row of the KIP's table, as a number and as confluent-kafka's error with that code."""
    assert classify(code) is expected
    assert classify(KafkaError(code)) is expected


def test_every_code_of_kafka_has_the_class_that_the_proxy_counts_it_by() -> None:
    """What an application sees agrees with the proxy's metrics; 0 alone is of no class there."""
    for code in ERROR_CODES:
        assert classify(code) is (of_the_wire(code) if code else None)


@pytest.mark.parametrize("api", ["Produce", "produce", 0])
def test_invalid_txn_state_from_produce(api: str | int) -> None:
    """48 is abortable there, as a number, and from each library."""
    for error in (48, KafkaError(48), kafka.errors.InvalidTxnStateError(), aiokafka.errors.InvalidTxnState()):
        assert classify(error, api) is ABORTABLE


@pytest.mark.parametrize("api", ["EndTxn", "AddPartitionsToTxn", 26, None])
def test_invalid_txn_state_from_elsewhere(api: str | int | None) -> None:
    """From the transaction APIs the application makes its producer anew."""
    for error in (48, KafkaError(48), kafka.errors.InvalidTxnStateError(), aiokafka.errors.InvalidTxnState()):
        assert classify(error, api) is RECOVERABLE


@pytest.mark.parametrize(
    "error",
    [
        None,
        0,
        KafkaError(0),
        KafkaError(KafkaError._PARTITION_EOF),
        -191,
        kafka.errors.NoError(),
        aiokafka.errors.NoError(),
    ],
)
def test_what_is_no_error(error: object) -> None:
    """`Message.error()` is None for a record, and _PARTITION_EOF for the end of what there is."""
    assert classify(error) is None


@pytest.mark.parametrize("code", [-1, 1, 32767, 99999, -2, -144, -150, -172])
def test_what_the_kip_does_not_name(code: int) -> None:
    """Unknown codes, and librdkafka's _FENCED, _FATAL and _STATE, are application-recoverable."""
    assert classify(code) is RECOVERABLE


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_TRANSPORT", REFRESH),
        ("_ALL_BROKERS_DOWN", REFRESH),
        ("_RESOLVE", REFRESH),
        ("_UNKNOWN_TOPIC", REFRESH),
        ("_UNKNOWN_PARTITION", REFRESH),
        ("_WAIT_COORD", REFRESH),
        ("_WAIT_CACHE", REFRESH),
        ("_TIMED_OUT", RETRIABLE),
        ("_TIMED_OUT_QUEUE", RETRIABLE),
        ("_MSG_TIMED_OUT", RETRIABLE),
        ("_BAD_MSG", RETRIABLE),
        ("_QUEUE_FULL", RETRIABLE),
        ("_ISR_INSUFF", RETRIABLE),
        ("_RETRY", RETRIABLE),
        ("_AUTHENTICATION", CONFIGURATION),
        ("_SSL", CONFIGURATION),
        ("_INVALID_ARG", CONFIGURATION),
        ("_NOT_CONFIGURED", CONFIGURATION),
        ("_UNSUPPORTED_FEATURE", CONFIGURATION),
    ],
)
def test_librdkafkas_own_codes(name: str, expected: ErrorClass) -> None:
    """By librdkafka's names, so that a number beside the wrong name fails; the test's list is complete."""
    code = getattr(KafkaError, name)
    assert classify(code) is expected
    assert classify(KafkaError(code)) is expected
    assert len(LIBRDKAFKA) == 19


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KafkaError(KafkaError._TIMED_OUT, txn_requires_abort=True), ABORTABLE),
        (KafkaError(22, txn_requires_abort=True), ABORTABLE),
        (KafkaError(KafkaError._FENCED, fatal=True), RECOVERABLE),
        (KafkaError(KafkaError._TRANSPORT, fatal=True), RECOVERABLE),
        (KafkaError(45, fatal=True), RECOVERABLE),
        (KafkaError(53, fatal=True), CONFIGURATION),
        (KafkaError(KafkaError._STATE, retriable=True), RETRIABLE),
        (KafkaError(KafkaError._TRANSPORT, retriable=True), REFRESH),
        (KafkaError(29, retriable=True), CONFIGURATION),
        (KafkaError(0, fatal=True), None),
    ],
)
def test_what_librdkafka_says_of_its_state(error: Any, expected: ErrorClass | None) -> None:
    """A transaction to abort comes first, then a client that cannot go on; retriable adds what the code leaves open."""
    assert classify(error) is expected


def test_exceptions_of_confluent_kafka() -> None:
    """Each kind is made with a `KafkaError`; one made with a text says nothing of a class."""
    timed_out = KafkaError(KafkaError._MSG_TIMED_OUT)
    assert classify(confluent_kafka.KafkaException(timed_out)) is RETRIABLE
    assert classify(ProduceError(KafkaError(48)), "Produce") is ABORTABLE
    assert classify(ConsumeError(KafkaError(30))) is CONFIGURATION
    assert classify(confluent_kafka.KafkaException("a text")) is RECOVERABLE
    assert classify(confluent_kafka.KafkaException()) is RECOVERABLE


@pytest.mark.parametrize("library", [kafka.errors, aiokafka.errors])
def test_exceptions_with_codes(library: Any) -> None:
    """All of kafka-python's and aiokafka's have the class of their code, by the proxy's own table."""
    made: list[Any] = [
        one for one in vars(library).values() if isinstance(one, type) and issubclass(one, library.KafkaError)
    ]
    coded = [one for one in made if isinstance(getattr(one, "errno", None), int)]
    assert len(coded) > 60
    for one in coded:
        assert classify(one()) is (of_the_wire(one.errno) if one.errno else None)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (kafka.errors.KafkaTimeoutError(), RETRIABLE),
        (aiokafka.errors.KafkaTimeoutError(), RETRIABLE),
        (kafka.errors.KafkaConnectionError(), REFRESH),
        (aiokafka.errors.KafkaConnectionError(), REFRESH),
        (aiokafka.errors.NoBrokersAvailable(), REFRESH),
        (kafka.errors.NodeNotReadyError(), REFRESH),
        (kafka.errors.MetadataEmptyBrokerList(), REFRESH),
        (kafka.errors.StaleMetadata(), REFRESH),
        (kafka.errors.TooManyInFlightRequests(), RETRIABLE),
        (aiokafka.errors.KafkaProtocolError(), RETRIABLE),
        (aiokafka.errors.AuthenticationFailedError(), CONFIGURATION),
        (aiokafka.errors.AuthenticationMethodNotSupported(), CONFIGURATION),
        (aiokafka.errors.IncompatibleBrokerVersion(), CONFIGURATION),
        (kafka.errors.AuthorizationError(), CONFIGURATION),
        (kafka.errors.KafkaConfigurationError(), CONFIGURATION),
        (kafka.errors.UnrecognizedBrokerVersion(), CONFIGURATION),
        (kafka.errors.UnsupportedCodecError(), CONFIGURATION),
        (aiokafka.errors.ProducerFenced(), RECOVERABLE),
        (kafka.errors.CommitFailedError(), RECOVERABLE),
        (kafka.errors.KafkaError(), RECOVERABLE),
    ],
)
def test_exceptions_without_codes(error: BaseException, expected: ErrorClass) -> None:
    """By what the library says of them, and by name where it says nothing or another thing."""
    assert classify(error) is expected


def test_names_of_exceptions_are_the_libraries() -> None:
    """A name that no library has would be dead weight, or a misspelling."""
    assert [name for name in EXCEPTIONS if not hasattr(kafka.errors, name) and not hasattr(aiokafka.errors, name)] == []


def test_a_subclass_is_what_its_base_is() -> None:
    """An application may have made its own."""

    class Mine(aiokafka.errors.KafkaTimeoutError):  # type: ignore[misc]
        pass

    assert classify(Mine()) is RETRIABLE


@pytest.mark.parametrize("error", [ValueError("x"), ConnectionRefusedError(111, "refused"), OSError(13, "denied")])
def test_other_exceptions(error: Exception) -> None:
    """The system's numbers are no codes of Kafka's: 13 would be NETWORK_EXCEPTION."""
    assert classify(error) is RECOVERABLE


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", 1.5, object()])
def test_what_is_neither(error: object) -> None:
    """A mistake in the application is told, and has no class."""
    with pytest.raises(TypeError, match="neither an error code nor an error"):
        classify(error)
