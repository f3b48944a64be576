"""Which examples Hypothesis chooses: the same on every run, unless `HYPOTHESIS_PROFILE=search` looks for new ones."""

from __future__ import annotations

import os
from typing import Final

from hypothesis import HealthCheck, settings

_SLOW: Final = (HealthCheck.too_slow, HealthCheck.data_too_large)  # many fields
# No deadline: time is bounded by the number of examples, and a busy machine makes any one of them late.
_DETERMINISTIC: Final = settings(derandomize=True, database=None, deadline=None, suppress_health_check=_SLOW)
_SEARCH: Final = settings(max_examples=2_000, deadline=None, suppress_health_check=_SLOW, print_blob=True)


def load() -> None:
    """Choose for all tests whose file is imported after this."""
    settings.register_profile("deterministic", _DETERMINISTIC)
    settings.register_profile("search", _SEARCH)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "deterministic"))
