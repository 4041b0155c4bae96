# make demo, make test: each does its own set-up. Only Python 3.10 to 3.12 and make are needed.
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TESTABLE := $(VENV)/.testable
MODULES := test/viewer/javascript/node_modules/.package-lock.json
TOOLS := $(CURDIR)/.venv-tools
# Wheels that a hash is kept of, nothing else; empy and ffmpeg have none, and are built with what is there.
WHEELS := --only-binary :all:
PIP := $(BIN)/pip --quiet --disable-pip-version-check install --no-compile --no-deps --no-build-isolation
LOCKED := $(PIP) --require-hashes
LOCK := $(TOOLS)/bin/uv pip compile setup.py - --constraint constraints.txt --universal --python-version 3.10 \
	--generate-hashes --no-annotate --quiet --custom-compile-command 'make lock' --extra ros --extra completion
# Single packages of a lock file.
part = sed -n '/^\($(1)\)==/,/[^\\]$$/p' $(or $(3),locks/run.txt) >$(VENV)/.part.txt && $(LOCKED) $(2) --requirement $(VENV)/.part.txt
PYTHON ?= $(shell for p in python3 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && echo $$p && break; done)

# Of pytest: one more than there are cores, for tests that wait on a browser or another process.
WORKERS ?= $(shell echo $$(($$(nproc) < 8 ? $$(nproc) + 1 : 8)))

# The ROS wheels find their resources here; what another environment left behind would mislead them.
export AMENT_PREFIX_PATH := $(VENV)
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH PYTHONPATH
# Without bytecode every one of some hundred processes parses 2000 files anew: 3 s of CPU each, and half a minute a worker of pytest.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install testable browser demo match test check format clauses messages pictures recordings traces proofs coverage shuffled mutants bench-peers lock audit wheels docs clean

help:
	@echo "make demo     drive the embedded course under ROS 2; results in out/demo"
	@echo "make match    drive the 90-minute match on five seeds, or on SEEDS="1 2 ..."; results in out/match"
	@echo "make test     all tests"
	@echo "make check    format, lint, types, import contract, fast tests"
	@echo "make clauses  docs/clauses.md, diagram and rows in docs/states.md and the actions in docs/scenarios.md, from the code"
	@echo "make messages the tables of topics, from the code into docs/messages.md and docs/vehicle.md"
	@echo "make pictures every figure of the README and the docs anew, and who calls whom in one tick"
	@echo "make recordings  what the guards say in every scenario, driven anew for the proofs"
	@echo "make traces   the trace of every scenario with two seeds, driven anew into test/run/traces.csv"
	@echo "make proofs   2000 sequences of anything at all, all runs as older processors compute them, and a million ticks of the page of the state machine, instead of the few of make test"
	@echo "make coverage lines and branches of the core that tests without whole drives go through; at least 95 %"
	@echo "make shuffled the fast tests twenty times, each time in another order"
	@echo "make mutants  faults planted in the state machine, the check, the speeds and the world, and those that no test finds"
	@echo "make bench-peers  what tuling-fsm bench compares with, in .venv-bench"
	@echo "make lock     locks/run.txt and locks/test.txt: every package of both environments, with hashes, from setup.py and constraints.txt"
	@echo "make audit    known vulnerabilities of those packages, and of npm's"
	@echo "make browser  Chromium and npm from the distribution, for the tests of the HTML pages; needs root"
	@echo "make docs     the pages and the reference of the package as a site in site/"
	@echo "make wheels   source distribution and wheel in dist, tried in a clean environment of each Python 3.10 to 3.12"
	@echo "make install  only build .venv with .venv/bin/tuling-fsm in it"

install: $(INSTALLED)
	@$(BIN)/python -m tuling_fsm.compiling

$(INSTALLED): setup.py locks/run.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python 3.10 to 3.12 found; name one with 'make PYTHON=/path/to/python3'"; exit 2; }
	@echo "set-up 1 of 3: an environment in .venv, with $(PYTHON)"
	@$(PYTHON) -m venv --clear $(VENV)
	@echo "set-up 2 of 3: the planner and ROS 2, some 130 packages; about half a minute where they are cached"
	@$(call part,setuptools\|wheel,$(WHEELS))
	@$(call part,empy,)
	@$(LOCKED) $(WHEELS) --requirement locks/run.txt
	@$(PIP) --editable .
	@# A ROS wheel brings an old fork with the same module name: the real one has to be laid last.
	@$(call part,lark,$(WHEELS) --force-reinstall)
	@echo "set-up 3 of 3: compiling the kernels on all cores; about a minute on two"
	@touch $@

# Oracles of other makers, checkers and build tools: nothing that drives needs them.
$(TESTABLE): $(INSTALLED) locks/test.txt
	@echo "set-up for tests: the tools and oracles that they need, 700 MB"
	@$(call part,ffmpeg,,locks/test.txt)
	@$(LOCKED) $(WHEELS) --requirement locks/test.txt
	@$(call part,lark,$(WHEELS) --force-reinstall)
	@touch $@

# What checks the page's modules, and Foxglove's application, 36 MB, for its layout; without npm neither is checked.
$(MODULES): test/viewer/javascript/package-lock.json
	@command -v npm >/dev/null || { echo "no npm: neither types and style of the page's modules are checked, nor the layout by Foxglove itself"; exit 0; }; \
		npm ci --prefix test/viewer/javascript --no-audit --no-fund --loglevel=error || echo "npm brought nothing: the same"

testable: install $(TESTABLE) $(MODULES)

# After a change of what setup.py requires, or of a version in constraints.txt.
lock: $(TOOLS)/.installed
	@mkdir -p locks
	printf 'setuptools\nwheel\n' | $(LOCK) --output-file locks/run.txt
	printf 'setuptools\nwheel\n' | $(LOCK) --extra test --output-file locks/test.txt

# Known vulnerabilities of what is installed; one that could not be asked for counts as found.
audit: $(TOOLS)/.installed
	$(TOOLS)/bin/pip-audit --strict --no-deps --disable-pip --requirement locks/test.txt
	npm audit --prefix test/viewer/javascript

$(TOOLS)/.installed: Makefile
	@test -n "$(PYTHON)" || { echo "no Python 3.10 to 3.12 found; name one with 'make PYTHON=/path/to/python3'"; exit 2; }
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check uv==0.13.9 pip-audit==2.10.1
	@touch $@

# What the tests of the page need of a Debian or Ubuntu; those that miss it are skipped.
browser:
	command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { apt-get update && \
		{ apt-get install --yes --no-install-recommends chromium-headless-shell || apt-get install --yes --no-install-recommends chromium; }; }
	command -v npm >/dev/null || { apt-get update && apt-get install --yes --no-install-recommends nodejs npm; }

demo: install
	$(BIN)/tuling-fsm demo --out out/demo

# About four minutes of CPU a seed.
SEEDS ?= 1 2 3 4 5
match: install
	for seed in $(SEEDS); do $(BIN)/tuling-fsm sim config/scenarios/full_match.osc --seed $$seed --out out/match/$$seed || exit 1; done

test: testable
	@# Each that starts ROS 2 processes is in a DDS domain of its own.
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

check: testable
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not medium and not slow and not exhaustive and not ros"

format: testable
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clauses: testable
	cd test && $(BIN)/python -m architecture.trace && $(BIN)/python -m architecture.marked

# The figures need Chromium (make browser), drive the demo and four short runs, and take some five minutes.
pictures: testable
	cd test && $(BIN)/python -m architecture.tick
	cd test && $(BIN)/python -m viewer.pictures

messages: testable
	cd test && $(BIN)/python -m package.topic_tables

# After a change of the tables; takes about half an hour.
recordings: testable
	cd test && $(BIN)/python -m behaviour.proof.recording

# Whoever changes how the car drives changes these; nothing else may.
traces: testable
	cd test && $(BIN)/python -m run.traces

proofs: testable
	PROOF_SEQUENCES=2000 $(BIN)/pytest -n $(WORKERS) test/behaviour/proof/test_anything.py
	FREEZE_SHARE=1 $(BIN)/pytest -n $(WORKERS) test/behaviour/proof/test_freeze.py
	TRACES=all $(BIN)/pytest test/run/test_traces.py
	MACHINE_STEPS=1000000 $(BIN)/pytest test/viewer/test_machine_engine.py

# Some six minutes.
coverage: testable
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow and not exhaustive and not ros" --cov --cov-report term:skip-covered

# A minute and a half each.
shuffled: testable
	for seed in $$(seq 20); do TEST_ORDER=$$seed $(BIN)/pytest -n $(WORKERS) -m "not medium and not slow and not exhaustive and not ros" || exit 1; done

# Plants 1000 faults in three rooms, one at a time, and tells which of them no test finds; takes about half an hour.
mutants: testable
	cd test && $(BIN)/python -m mutation behaviour --sample 500 --seed 1
	cd test && $(BIN)/python -m mutation planning --sample 250 --seed 1
	cd test && $(BIN)/python -m mutation world --sample 250 --seed 1

# An environment of their own: nothing of it is ever imported by the product.
bench-peers:
	@test -n "$(PYTHON)" || { echo "no Python 3.10 to 3.12 found; name one with 'make PYTHON=/path/to/python3'"; exit 2; }
	$(PYTHON) -m venv --clear $(CURDIR)/.venv-bench
	$(CURDIR)/.venv-bench/bin/pip install --quiet --disable-pip-version-check ompl==2.0.1 rsplan==1.0.10 \
		libsumo==1.28.0 eclipse-sumo==1.28.0 highway-env==1.12.1 \
		toppra==0.6.10 commonroad-reactive-planner==2025.1 commonroad-drivability-checker==2025.4.0 \
		commonroad-io==2024.3 fiss-planner==1.0.0 frenetix==0.4.0 numba numpy
	@# The wheel of pyrvo calls a library for every sum of two vectors and takes four times as long as RVO2 can be.
	CXXFLAGS="-O3 -march=native -frecord-gcc-switches" $(CURDIR)/.venv-bench/bin/pip install --quiet \
		--disable-pip-version-check --no-cache-dir --no-deps --no-binary pyrvo \
		--config-settings=cmake.define.ENABLE_INTERPROCEDURAL_OPTIMIZATION=ON \
		--config-settings=cmake.define.BUILD_SHARED_LIBS=OFF pyrvo==0.4.3

# Python 3.10 to 3.12 as far as they are there; others by PYTHONS="/path/to/python3.12 ...".
wheels: testable
	cd test && $(BIN)/python -m package.wheels $(CURDIR)/dist $(PYTHONS)

# An environment of its own: whoever reads the pages needs neither the planner nor its tests.
docs: .venv-docs/.installed
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict
	@echo "open site/index.html"

.venv-docs/.installed: constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python 3.10 to 3.12 found; name one with 'make PYTHON=/path/to/python3'"; exit 2; }
	$(PYTHON) -m venv --clear .venv-docs
	.venv-docs/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt mkdocs-material 'mkdocstrings[python]'
	@touch $@

clean:
	find tuling_fsm -name __pycache__ -prune -exec rm -rf {} +
	rm -rf $(VENV) $(TOOLS) .venv-bench .venv-docs out build dist site install log *.egg-info
