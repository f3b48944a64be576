"""Groups that kproxy hosts, with real clients on a real Kafka: `make test-groups`."""
