"""A virtual cluster at work: its listeners, its nodes, its upstream clusters, and what happens when they change."""
