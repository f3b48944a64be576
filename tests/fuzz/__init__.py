"""The fuzzer of the whole process, and the corpus of what it has found; docs/maintainers/fuzzing.md tells more."""
