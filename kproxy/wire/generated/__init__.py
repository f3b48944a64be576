# This module is pure.
"""What `python -m codegen` makes of Kafka's message schemas; one module a message."""
