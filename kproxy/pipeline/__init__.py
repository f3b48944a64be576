"""Tables of what kproxy wrote, made with PySpark.

Nothing here imports the running proxy: the pipeline reads published schemas (kproxy/schemas), and may be of another
version than the proxies that wrote its input.
"""
