"""A real Apache Kafka on this machine, for the demo and the tests: its jars, its JVMs, and what they leave behind."""
