# make demo, make test: each does its own set-up. Only Python 3.10 to 3.12 and make are needed.
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYTHON ?= $(shell for p in python3 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && echo $$p && break; done)

# The ROS wheels find their resources here; what another environment left behind would mislead them.
export AMENT_PREFIX_PATH := $(VENV)
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE LD_LIBRARY_PATH PYTHONPATH

.PHONY: help install demo match test check format clauses recordings proofs mutants bench-peers clean clean-kernels

help:
	@echo "make demo     drive the embedded course under ROS 2; results in out/demo"
	@echo "make match    drive the 90-minute match on five seeds in one process each; results in out/match"
	@echo "make test     all tests"
	@echo "make check    format, lint, types, import contract, fast tests"
	@echo "make clauses  which rows and tests stand for which clause, into docs/clauses.md"
	@echo "make recordings  what the guards say in every scenario, driven anew for the proofs"
	@echo "make proofs   2000 sequences of anything at all, instead of the few of make test"
	@echo "make mutants  faults planted in the state machine, and those that no test finds"
	@echo "make bench-peers  what tuling-fsm bench compares with, in .venv-bench"
	@echo "make install  only build .venv with .venv/bin/tuling-fsm in it"
	@echo "make clean-kernels  forget compiled kernels, after a pull that changed some"

install: $(INSTALLED)

$(INSTALLED): setup.py constraints.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python 3.10 to 3.12 found; name one with 'make PYTHON=/path/to/python3'"; exit 2; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt setuptools wheel
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ros,test]'
	@# A ROS wheel brings an old fork with the same module name: the real one has to be laid last.
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --force-reinstall --no-deps lark
	@# A short drive compiles the kernels into the cache, so that nothing later has to wait for it.
	$(BIN)/tuling-fsm sim config/scenarios/roam.osc --set length_m=80 --set vehicles=4 --set pedestrians=2
	@touch $@

demo: install
	$(BIN)/tuling-fsm demo --out out/demo

# About five minutes of CPU a seed.
match: install
	for seed in 1 2 3 4 5; do $(BIN)/tuling-fsm sim config/scenarios/full_match.osc --seed $$seed --out out/match/$$seed || exit 1; done

test: install
	$(BIN)/pytest -n 2 --dist worksteal -m "not ros"
	@# Those that start ROS 2 processes have the machine for themselves.
	$(BIN)/pytest -m ros

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not exhaustive and not ros"

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clauses: install
	cd test && $(BIN)/python -m architecture.trace

# After a change of the tables; takes about half an hour.
recordings: install
	cd test && $(BIN)/python -m behaviour.proof.recording

proofs: install
	PROOF_SEQUENCES=2000 $(BIN)/pytest -n 2 test/behaviour/proof/test_anything.py

# Plants 500 faults in the state machine, one at a time, and tells which of them no test finds; takes about twenty minutes.
mutants: install
	cd test && $(BIN)/python -m mutation --sample 500 --seed 1

# An environment of their own: nothing of it is ever imported by the product.
bench-peers:
	@test -n "$(PYTHON)" || { echo "no Python 3.10 to 3.12 found; name one with 'make PYTHON=/path/to/python3'"; exit 2; }
	$(PYTHON) -m venv --clear $(CURDIR)/.venv-bench
	$(CURDIR)/.venv-bench/bin/pip install --quiet --disable-pip-version-check ompl==2.0.1 rsplan==1.0.10 \
		pyrvo==0.4.3 libsumo==1.28.0 eclipse-sumo==1.28.0 highway-env==1.12.1 \
		toppra==0.6.10 commonroad-reactive-planner==2025.1 commonroad-drivability-checker==2025.4.0 numba numpy

# Numba does not see a change in a kernel that another file inlines: after a pull, compile them all anew.
clean-kernels:
	find tuling_fsm \( -name '*.nbi' -o -name '*.nbc' \) -delete

clean: clean-kernels
	rm -rf $(VENV) .venv-bench out build install log *.egg-info
