"""Tables made of the base tables: connections, clients, instances, traffic, topology, errors, rebalances, rollups.

Each is a function of the base tables. When these have grown, what the new rows concern is made again and written over
what was there. So a step that is repeated changes nothing, and what comes late is counted where it belongs.
"""
