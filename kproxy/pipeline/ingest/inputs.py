"""Where the pipeline reads: directories of files and Kafka topics, as the command line names them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.pipeline.errors import PipelineError

_FORMS: Final = "files:DIRECTORY or kafka:HOST:PORT[,HOST:PORT…]/TOPIC"


@dataclass(frozen=True, slots=True)
class FilesInput:
    """A directory in which the `files` receiver, or `events.destinations` of type files, writes."""

    directory: str
    """A path, or a URI that Spark reads, as s3a://bucket/kproxy."""


@dataclass(frozen=True, slots=True)
class TopicInput:
    """A topic to which the `kafka` receiver, or `events.destinations` of type kafka, writes."""

    servers: str
    """host:port of a broker or several, with commas."""
    topic: str

    def __str__(self) -> str:
        """As a user names it."""
        return f"kafka:{self.servers}/{self.topic}"


Input = FilesInput | TopicInput


def parse(text: str) -> Input:
    """Return the input that a user wrote; raise `PipelineError`."""
    kind, _, rest = text.partition(":")
    if kind == "files" and rest:
        return FilesInput(_directory(rest))
    servers, _, topic = rest.rpartition("/")
    if kind == "kafka" and topic and servers and all(_is_server(server) for server in servers.split(",")):
        return TopicInput(servers, topic)
    raise PipelineError(f"input {text!r}: expected {_FORMS}")


def _directory(text: str) -> str:
    if "://" in text:
        return text
    path = Path(text)
    if not path.is_dir():
        raise PipelineError(f"input files:{text}: there is no such directory; it is `directory` of a files receiver")
    return str(path.resolve())


def _is_server(text: str) -> bool:
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit() and 0 < int(port) < 65536
