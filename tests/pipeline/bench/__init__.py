"""How fast the pipeline's job is: pushes as kproxy writes them, decoded and written to Delta tables."""
