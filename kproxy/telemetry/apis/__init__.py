# This module is pure.
"""What telemetry does with an API: one module each, named by its key."""
