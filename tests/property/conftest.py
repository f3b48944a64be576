"""Hypothesis profiles: the same examples on every run, unless `HYPOTHESIS_PROFILE=search` looks for new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]  # many fields; time is bounded by the number of examples

settings.register_profile("deterministic", derandomize=True, database=None, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("search", max_examples=2_000, deadline=None, suppress_health_check=_SLOW, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "deterministic"))
