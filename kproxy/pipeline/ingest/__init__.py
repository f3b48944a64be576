"""From what kproxy wrote to the tables that have a row for each of it: points, pushes, events, quarantine."""
