# Every target sets up what it needs; `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo serve check test test-fast test-deploy bench generate format clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@

setup: $(STAMP)  ## a virtual environment with everything to develop and test

demo: $(STAMP)  ## an embedded Kafka, the proxy, a producer and a consumer group: live, then a summary and a plot
	$(BIN)/kproxy demo

check: $(STAMP)  ## style, types, import rule, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m codegen --check

format: $(STAMP)  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

generate: $(STAMP)  ## write what is made from other files: kproxy/wire/generated, the configuration's schema and tables
	$(BIN)/python -m codegen
	$(BIN)/python -m kproxy.config.reference

test: $(STAMP)  ## unit, property, client and fault tests, on real Kafka (25 minutes at most)
	$(BIN)/pytest tests/unit tests/property tests/bench tests/clients tests/faults

test-fast: $(STAMP)  ## unit and property tests only (no Java, no broker)
	$(BIN)/pytest tests/unit tests/property tests/bench

test-deploy: $(STAMP)  ## the image and the chart, with real container tools and a real API server
	$(BIN)/pytest tests/deploy

bench: $(STAMP)  ## kproxy beside HAProxy and direct, in one run
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
