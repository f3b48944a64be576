"""kproxy beside HAProxy and a direct connection, against a real Kafka; docs/performance.md explains."""
