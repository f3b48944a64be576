"""What the report tells, part by part: for each a query over the tables, and the dataclass that its rows make.

Nothing here runs a query; `kproxy.pipeline.report.read` does.
"""
