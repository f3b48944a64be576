"""Where clients' metrics go: Prometheus, OTLP, Kafka, files, plug-ins. Each has its own bounded queue."""
