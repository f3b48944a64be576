"""kproxy: a Kafka proxy on Trio. docs/design.md describes each package."""

__version__ = "0.1.0"
