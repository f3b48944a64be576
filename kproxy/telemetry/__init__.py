"""Client telemetry (KIP-714). Subscriptions, instances and push checks are pure; receivers deliver the pushes."""
