# This module is pure (no I/O, no clock).
"""What telemetry does with each API: one module for each, or for two that are alike."""
