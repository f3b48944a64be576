"""An embedded or a real Kafka, a workload through the proxy, the live screen and the plot."""
