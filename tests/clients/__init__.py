"""Real clients through kproxy to a real Kafka."""
