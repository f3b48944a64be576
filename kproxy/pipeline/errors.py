"""What a user of the pipeline may have to mend; the command line prints it as one line."""

from __future__ import annotations

from kproxy.errors import KproxyError


class PipelineError(KproxyError):
    """Something that the user can change: what, where, and what to do."""
