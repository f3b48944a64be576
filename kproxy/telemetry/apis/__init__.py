# This module is pure.
"""What telemetry does with each API: one module for each, or for two that are alike."""
