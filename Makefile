# Every recipe sets up what it needs in .venv; nothing is installed outside it.
PYTHON ?= python3
BIN := .venv/bin
# the long ones of recordings/: an Anthropic list, two OpenHands runs, a SWE-agent trajectory
LONG := recordings/pi-large-session.json $(wildcard recordings/multi_swe_bench_*.json) \
	recordings/pydicom__pydicom-1458.traj
DATA ?=
CASES ?=
SET ?=
SHARE ?= 1
STEPS ?= 20000

.PHONY: help run test check bench cases faults soak recall docs clean

help:  ## list the recipes
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

.venv/run.ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/dev.ready: .venv/run.ready
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

run: .venv/run.ready  ## govern the shipped recordings, offline: progress, a table, report.html
	$(BIN)/wayfare replay $(LONG) --window 12500 --compare window,classic --html report.html

test: .venv/dev.ready  ## the test suite
	$(BIN)/python -m pytest -n auto

check: .venv/dev.ready  ## formatting, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

bench: .venv/dev.ready  ## figures into BENCHMARKS.md; DATA=FOLDER takes other recordings
	$(BIN)/python -m bench $(DATA)

docs: .venv/dev.ready  ## the reference and the pictures, made anew from the code
	$(BIN)/python -m docs.generate
	$(BIN)/python -m docs.generate --pictures

cases: .venv/dev.ready  ## run the cases from practice; CASES=FOLDER takes other ones
	$(BIN)/python -m tests.cases $(CASES)

recall: .venv/dev.ready  ## lexical recall on a set; SET=FOLDER takes another one
	$(BIN)/python -m bench.recall $(SET)

faults: .venv/dev.ready  ## break everything on purpose; SHARE=8 tries every eighth point
	$(BIN)/python -m tests.faults $(SHARE)

soak: .venv/dev.ready  ## one session of 20,000 steps into BENCHMARKS.md; STEPS=N takes another length
	$(BIN)/python -m bench --only soak --soak-steps $(STEPS)

clean:  ## remove what the recipes made
	rm -rf .venv report.html .pytest_cache .ruff_cache .hypothesis dist
