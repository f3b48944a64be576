"""What Kafka's error codes mean: for `kproxy errors` and docs/errors.md.

Nothing of the running proxy imports it. `errors` has the whole table; the texts are in a module for each subject.
"""
