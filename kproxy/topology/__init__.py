"""Which nodes the upstream cluster has, which can be reached, and what changed: pure, with a watcher around it."""
