"""The proxy's own small Kafka client: brokers by id, many requests in flight, timeouts everywhere."""
