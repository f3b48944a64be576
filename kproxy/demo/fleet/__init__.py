"""A sample fleet: what kproxy would write of a day of it, with troubles that the pipeline has to find."""
