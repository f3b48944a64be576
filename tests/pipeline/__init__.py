"""The pipeline on a real Spark: what kproxy's own writers wrote becomes tables."""
