"""A page about the tables of the pipeline: who is there, what is unhealthy, how quick and how busy clients are.

`read` asks the tables, and gives plain dataclasses (`sections`). The page and the JSON are made of these alone, without
Spark and without the clock.
"""
