"""The APIs of hosted groups: from frames to the coordinator, and from its answers to frames."""
