"""TLS on either side of kproxy, with real clients and brokers."""
