"""Generates `kproxy/wire/generated` from Kafka's message schemas; used at build time only."""
