"""The evaluation of interruptions, tested without one."""

from __future__ import annotations

from tests.interruptions.gaps import WIDTH, Gap, error_name, errors, longest, table
from tests.support.libraries import JAVA_3_9, JAVA_4_4


def test_the_longest_gap() -> None:
    """It counts from the interruption to the first success, between two, and to the end of the watch."""
    assert longest([9.0, 13.0, 14.0, 16.0, 18.0], 10.0, 20.0) == 3.0
    assert longest([11.0, 12.5, 16.0, 18.0], 10.0, 20.0) == 3.5
    assert longest([11.0, 12.0, 14.0, 15.5], 10.0, 20.0) == 4.5


def test_a_client_that_has_not_come_back() -> None:
    """Nothing for 5 s at the end; what came before the interruption, or after the watch, does not count."""
    assert longest([11.0, 15.0], 10.0, 20.0) is None
    assert longest([9.9, 20.1], 10.0, 20.0) is None


def test_the_table() -> None:
    """A row for each library, with its settings; a cell for each case, also for one that was not tried."""
    gaps = [
        Gap(JAVA_4_4, "consumer", "drain", None, {}),
        Gap(JAVA_4_4, "producer", "drain", 0.24, {}),
        Gap(JAVA_3_9, "producer", "kill", 1.0, {}),
    ]
    assert table([JAVA_4_4, JAVA_3_9], ["drain", "kill"], gaps).splitlines() == [
        "| client | drain | kill |",
        "|---|---|---|",
        f"| java {JAVA_4_4.version} | 0.2, **not back** | not tried |",
        f"| java {JAVA_3_9.version}, `metadata.recovery.strategy=rebootstrap` | not tried | 1.0 |",
    ]


def test_names_of_errors() -> None:
    """Addresses and counts do not tell errors apart."""
    assert error_name('KafkaError{code=_ALL_BROKERS_DOWN,val=-187,str="4/4 brokers are down"}') == "_ALL_BROKERS_DOWN"
    assert error_name("not delivered: KafkaError{code=_MSG_TIMED_OUT,val=-192}") == "not delivered: _MSG_TIMED_OUT"
    assert error_name("unable to dial 127.0.0.1:9092:\nrefused") == "unable to dial a broker: refused"
    assert len(error_name("long " * 50)) <= WIDTH


def test_errors() -> None:
    """A row for each error of a role, with the cases in which it was shown; one sentence when there is none."""
    gaps = [Gap(JAVA_4_4, "producer", "drain", 0.2, {"E": 2}), Gap(JAVA_4_4, "producer", "kill", 0.2, {"E": 1})]
    assert errors(gaps).splitlines()[2:] == [f"| java {JAVA_4_4.version} | producer | E | drain × 2, kill × 1 |"]
    assert errors([Gap(JAVA_4_4, "producer", "drain", 0.2, {})]) == "No application was shown an error."
