"""The gate: stages of tests, each to its end, what failed again alone, one table and one verdict."""
