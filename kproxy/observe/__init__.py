"""What kproxy counts and logs: plain integers for the hot path, Prometheus' form at the scrape, structlog beside it."""
