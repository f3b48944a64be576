"""What goes wrong: brokers that die or stall, bytes that are no Kafka, clients that are slow."""
