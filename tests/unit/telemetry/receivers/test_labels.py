"""kproxy.telemetry.receivers.labels: a client's labels in the exposition format."""

from __future__ import annotations

import pytest

from kproxy.telemetry.receivers.labels import MAX_VALUE, Labels, check, client_text, known, point_text, text
from kproxy.telemetry.subscription import kafka_text
from tests.unit.telemetry.receivers.pushes import client


def test_what_is_known() -> None:
    """The six attributes of KIP-714 that the client sent; the instance id as Kafka's clients log it."""
    info = client(7)
    assert dict(known(info)) == {
        "client_instance_id": kafka_text(info.client_instance_id),
        "client_id": "app",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "4.1.0",
        "client_source_address": "10.0.0.1",
        "client_source_port": "40007",
    }
    assert "client_id" not in dict(known(client(client_id=None)))


def test_chosen_labels_in_their_order() -> None:
    """Attributes of a client and of its resource; missing ones are left out."""
    chosen = ("group_id", "client_id", "client_rack", "client_software_version")
    said = client_text(chosen, client(version=None), {"group_id": "g", "other": "x"})
    assert said == 'group_id="g",client_id="app",'


def test_values_are_escaped_and_cut() -> None:
    """Quotes, backslashes and newlines cannot end a value; none is longer than the limit."""
    assert text([("a", '"\\\n')]) == r'a="\"\\\n",'
    assert text([("a", "x" * 1000)]) == f'a="{"x" * MAX_VALUE}",'


def test_a_label_occurs_once() -> None:
    """Attributes whose names become one label, or a chosen label, do not make a line that Prometheus refuses."""
    attributes = [("topic-name", "b"), ("topic.name", "a"), ("client-id", "x")]
    assert point_text(attributes, frozenset({"client_id"})) == 'topic_name="a",'


def test_what_is_no_label_is_refused() -> None:
    """The error says what is a label."""
    check(["client_id", "group_id"])
    with pytest.raises(ValueError, match=r"'a-b' cannot be a label; take one of client_instance_id"):
        check(["client_id", "a-b"])


def test_the_labels_of_series() -> None:
    """Constant labels are first. No attribute can take a constant or a client's label. Attributes may be chosen."""
    attributes = (("topic", "x"), ("partition", "3"), ("cluster", "forged"), ("client-id", "forged"))
    labels = Labels(["client_id", "group_id"], attributes=None, constant={"cluster": "main"})
    assert labels.of_client(client(), {"group_id": "g"}) == 'cluster="main",client_id="app",group_id="g",'
    assert labels.of_point(attributes) == 'partition="3",topic="x",'
    assert Labels([], attributes=["topic"], constant={}).of_point(attributes) == 'topic="x",'


def test_a_constant_label_of_a_clients_name() -> None:
    """It counts: Prometheus refuses the whole page where a label occurs twice."""
    labels = Labels(["client_id", "cluster"], attributes=None, constant={"cluster": "main", "client_id": "fleet"})
    assert labels.of_client(client(), {"cluster": "forged"}) == 'cluster="main",client_id="fleet",'


def test_when_series_are_of_several() -> None:
    """Without the client's own id, or where attributes are left out."""
    one = ["client_instance_id", "client_id"]
    assert not Labels(one, attributes=None, constant={}).merge
    assert Labels(one, attributes=["topic"], constant={}).merge
    assert Labels(one[1:], attributes=None, constant={}).merge
