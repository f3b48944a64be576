"""The composition root: what starts, in what order, and how it drains."""

from kproxy.app.run import run

__all__ = ["run"]
