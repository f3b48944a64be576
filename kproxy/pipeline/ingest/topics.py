"""Which topics an output was made of: Kafka gives a topic an id, and another one when it is deleted and made anew.

Offsets begin at 0 again then. A job that went on from its old offsets would leave out the first new records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.ingest.inputs import TopicInput

_PROPERTY: Final = "kproxy.pipeline.topic.{}"
"""Of the table `pushes`, by the place among the topics that are inputs."""
_TIMEOUT: Final = "30000"  # milliseconds
_NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""What Kafka says of a topic that is older than ids (2.8)."""


def check(output: Output, topics: Sequence[TopicInput]) -> None:
    """Note the ids of topics that are read for the first time.

    Raises `PipelineError` when one is not there, or is another topic than the one that was read before.
    """
    known = output.properties(tables.PUSHES)
    new: dict[str, str] = {}
    for number, topic in enumerate(topics):
        found, name = _id(output.session, topic), _PROPERTY.format(number)
        if known.get(name, found) != found:
            raise PipelineError(
                f"input {topic}: this is not the topic that was read before: it was deleted and made anew, or the "
                f"inputs are in another order (its id is {found}, not {known[name]}); use another output"
            )
        if name not in known and found != _NO_ID:
            new[name] = found
    if new:
        output.set_properties(tables.PUSHES, new)


def _id(session: SparkSession, topic: TopicInput) -> str:
    java = session._jvm.java.util
    settings, names = java.HashMap(), java.ArrayList()
    settings.put("bootstrap.servers", topic.servers)
    settings.put("default.api.timeout.ms", _TIMEOUT)
    names.add(topic.topic)
    try:
        admin: Any = session._jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
    except Py4JJavaError as error:
        raise PipelineError(f"input {topic}: {_reason(error)}") from error
    try:
        return str(admin.describeTopics(names).allTopicNames().get().get(topic.topic).topicId().toString())
    except Py4JJavaError as error:
        raise PipelineError(f"input {topic}: {_reason(error)}") from error
    finally:
        admin.close()


def _reason(error: Py4JJavaError) -> str:
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    kind, text = cause.getClass().getSimpleName(), cause.getMessage()
    if kind == "UnknownTopicOrPartitionException":
        return "there is no such topic"
    if kind == "TimeoutException":
        return f"no answer from there within {int(_TIMEOUT) // 1000} s ({text})"
    return f"{kind}: {text}"
