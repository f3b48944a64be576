"""Tables made of the base tables."""
