"""Build time only: Kafka's message schemas -> `kproxy/wire/generated`."""
