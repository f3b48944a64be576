"""What kproxy counts and logs: plain integers for the hot path, their Prometheus form at the scrape, structlog for the rest."""
