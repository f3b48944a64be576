"""Producer ids that keep their meaning across a failover: each carries the Kafka cluster that issued it."""
