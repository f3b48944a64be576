"""Properties that hold for generated input; deterministic unless a Hypothesis profile says otherwise."""
