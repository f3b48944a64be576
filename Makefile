# Every target sets up what it needs; `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.installed
# The wheel with the compiled relay, and an environment of its own, so that it never stands in for the sources.
COMPILED       = build/compiled
COMPILED_STAMP = $(COMPILED)/.installed
# Spark takes 400 MB, so only what needs it has it.
PIPELINE       = build/pipeline
PIPELINE_STAMP = $(PIPELINE)/.installed

# Tests start kproxy a thousand times: compiled each time, its modules would take a third of that.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo serve check test test-fast test-real test-long coverage test-pipeline bench-pipeline test-groups test-deploy compiled test-compiled bench bench-groups conformance clients-table attack fuzz soak interruptions generate format clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@

setup: $(STAMP)  ## a virtual environment with everything to develop and test

demo: $(STAMP)  ## an embedded Kafka, the proxy, a producer and a consumer group: live, then a summary and a plot
	$(BIN)/kproxy demo

check: $(STAMP)  ## style, types, import rule, generated files, no test that is flaky again and again
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m codegen --check
	$(BIN)/python -m tests.gate.flaky

format: $(STAMP)  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

generate: $(STAMP)  ## write what is made from other files: kproxy/wire/generated, the configuration's schema and tables
	$(BIN)/python -m codegen
	$(BIN)/python -m kproxy.config.reference
	$(BIN)/python -m kproxy.observe.event_schema
	$(BIN)/python -m kproxy.explained.reference
	$(BIN)/python -m kproxy.pipeline.reference
	$(BIN)/python -m kproxy.pipeline.findings.reference

# check unit quick compiled real faults old secure groups pipeline deploy demo, or all: what .ci/run runs.
STAGES ?= check unit real
test: $(STAMP)  ## the gate's STAGES="check unit real" (tests/gate); STAGES=all is what must pass before a change lands
	$(BIN)/python -m tests.gate $(STAGES)

OTHERS = tests/clients tests/faults tests/attacks tests/soak/test_soak.py
# COVERAGE=1 runs the unit tests as `make coverage` does.
WORKERS ?= auto
UNIT = tests/unit
QUICK = tests/property tests/bench tests/fuzz tests/soak/test_verdict.py tests/interruptions
test-fast: $(STAMP)  ## unit and property tests only (no Java, no broker); a worker for each processor, or WORKERS=0
	$(if $(COVERAGE),$(MAKE) --no-print-directory coverage)
	$(BIN)/pytest -p no:cacheprovider -n $(WORKERS) --dist loadfile $(if $(COVERAGE),,$(UNIT)) $(QUICK)

test-real: $(STAMP)  ## clients, faults, attacks and a short soak, on real Kafka, whole
	$(BIN)/pytest -p no:cacheprovider $(OTHERS)

# proxy unit groups pipeline deploy, or all.
ROOMS ?= all
test-long: $(STAMP)  ## what the gate leaves out: kills, soak, attacks, bounds on time; build/long.md; two hours, or ROOMS="proxy"
	$(BIN)/python -m tests.gate.at_length $(ROOMS)

# Pure modules need no socket and no clock in their unit tests, so nothing excuses a branch that none of them takes.
# slipcover's probes are gone once they were reached: the tests take a fifth more time, where a tracer takes three times it.
REACHED = build/reached.json
coverage: $(STAMP)  ## every branch of the pure modules is covered by unit tests, or it fails
	mkdir -p build
	$(BIN)/python -m slipcover --branch --source kproxy --json --out $(REACHED) -m pytest -p no:cacheprovider \
	  -W ignore::pytest.PytestAssertRewriteWarning $(UNIT)
	$(BIN)/python -m tests.support.pure_coverage $(REACHED)

$(PIPELINE_STAMP): pyproject.toml
	$(PYTHON) -m venv $(PIPELINE)
	$(PIPELINE)/bin/pip install -q --disable-pip-version-check -e '.[test-pipeline]'
	@touch $@

KILLS ?= 20
SEEDS ?= 10
test-pipeline: $(PIPELINE_STAMP)  ## the pipeline on a real Spark, killed KILLS=20 times, SEEDS=10 samples, its report in Chromium; needs Java 17, node, Go
	TEST_KILLS=$(KILLS) TEST_SEEDS=$(SEEDS) $(PIPELINE)/bin/pytest -p no:cacheprovider tests/pipeline

test-groups: $(STAMP)  ## groups that kproxy hosts: real clients, administrators' tools, expiry of offsets, KILLS=20 kills
	TEST_KILLS=$(KILLS) $(BIN)/pytest -p no:cacheprovider tests/groups

bench-pipeline: $(PIPELINE_STAMP)  ## the pipeline's job on one core and on two: points by second, CPU, memory; BENCH="--rounds 1"
	$(PIPELINE)/bin/python -m tests.pipeline.bench $(BENCH)

test-deploy: $(STAMP)  ## the image, the chart and receivers, with real container tools, API server and collector
	$(BIN)/pytest tests/deploy

$(COMPILED_STAMP): pyproject.toml hatch_build.py $(shell find kproxy -name '*.py' -o -name '*.xml')
	rm -rf $(COMPILED)/wheel
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=1 $(PYTHON) -m pip wheel -q --disable-pip-version-check --no-deps -w $(COMPILED)/wheel .
	test -x $(COMPILED)/venv/bin/pip || $(PYTHON) -m venv $(COMPILED)/venv
	wheel=$$(echo $(COMPILED)/wheel/*.whl) && $(COMPILED)/venv/bin/pip install -q --disable-pip-version-check "$$wheel[test]" \
	  && $(COMPILED)/venv/bin/pip install -q --disable-pip-version-check --no-deps --force-reinstall "$$wheel"
	@touch $@

compiled: $(COMPILED_STAMP)  ## kproxy with its relay compiled, in an environment of its own; needs a C compiler
	@$(COMPILED)/venv/bin/kproxy --version

# From a copy of the tests, where no source of kproxy can stand in for the compiled ones; test_compiled.py makes sure.
# test_arriving.py derives from a compiled class, which only compiled classes may.
test-compiled: $(COMPILED_STAMP)  ## the relay's unit and property tests on the compiled modules
	rm -rf $(COMPILED)/tree && mkdir $(COMPILED)/tree && cp -r pyproject.toml codegen tests $(COMPILED)/tree
	cd $(COMPILED)/tree && TEST_COMPILED=1 ../venv/bin/python -m pytest -p no:cacheprovider $(PYTEST) \
	  tests/unit/test_compiled.py tests/unit/relay tests/unit/wire --ignore tests/unit/wire/test_arriving.py tests/unit/telemetry/test_*.py \
	  tests/unit/telemetry/receivers/test_plan.py tests/unit/protocol tests/unit/producers tests/unit/quotas tests/unit/faults tests/property/test_relay_*.py \
	  tests/property/test_telemetry_*.py

bench: $(STAMP)  ## kproxy beside HAProxy and direct, in one run
	$(BIN)/python -m tests.bench

bench-groups: $(STAMP)  ## a large rebalance and many heartbeats of hosted groups, beside the backend's own coordinator; BENCH="--members 200"
	$(BIN)/python -m tests.bench.groups $(BENCH)

conformance: $(STAMP)  ## what seven client libraries do about each class of error, into docs/error-conformance.md; needs Java, node, Go
	$(BIN)/python -m tests.conformance $(CONFORMANCE)

# CLIENTS="--only java-2. --brokers 3.9" runs a part, and leaves the other cells.
clients-table: $(STAMP)  ## which releases of clients work directly, relayed and hosted, into docs/clients.md; needs Java, node, Go, cargo
	$(BIN)/python -m tests.clients_table $(CLIENTS)

# BEFORE=/path/to/kproxy attacks another build beside it; ATTACK="--only NAME --rounds 1" chooses.
attack: $(STAMP) $(COMPILED_STAMP)  ## hostile clients beside a healthy one: how slow it gets, and what memory they take
	$(BIN)/python -m tests.attacks $(if $(BEFORE),--before $(BEFORE)) $(ATTACK)

INPUTS ?= 100000
fuzz: $(STAMP)  ## bytes that nobody should send, to every part and to a whole process: INPUTS=100000
	$(BIN)/python -m tests.fuzz --inputs $(INPUTS)

MINUTES ?= 30
soak: $(STAMP)  ## good and hostile clients, failovers and reloads on two real Kafkas, for MINUTES=30; build/soak.png
	$(BIN)/python -m tests.soak --minutes $(MINUTES)

interruptions: $(STAMP)  ## nine clients across failovers, a drain, kill -9 and a dead cluster; docs/rebootstrap.md
	$(BIN)/python -m tests.interruptions

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
