"""Receivers of clients' metrics: Prometheus, OTLP, Kafka, files, plug-ins. Each has its own bounded queue."""
