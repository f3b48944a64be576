# This module is pure (no I/O, no clock).
"""What `python -m codegen` makes of Kafka's message schemas; one module a message."""
