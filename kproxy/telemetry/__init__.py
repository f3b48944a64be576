"""Client telemetry (KIP-714): subscriptions, instances and push checks are pure; receivers say where pushes go."""
