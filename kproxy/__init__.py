"""kproxy: a Kafka proxy on Trio. docs/design.md tells what each room is for."""

__version__ = "0.1.0"
