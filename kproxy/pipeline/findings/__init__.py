"""Findings: rules look at the tables, and say what is unhealthy, why, and what to do.

A rule (`rule.Rule`) is a plain object with a query. `rules` has those of kproxy, other packages add theirs by an entry
point (`installed`). `evaluate` runs them, and appends what they found to the table `findings`.
"""
