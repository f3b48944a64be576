"""Replicas of kproxy agree on which upstream cluster of a virtual cluster is active: orders, and places to keep them.

`kproxy.cluster.agreement` runs it for each virtual cluster whose `failover` names such a place.
"""
