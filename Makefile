# Wayname. `make run` shows it at work, `make test` proves it; each sets up what it needs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CARGO := cargo
SWITCH := switch/target/release/wayname-switch

.PHONY: help venv switch test test-switch conformance bench-switch fmt lint clean

help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 24

venv: $(VENV)/.ready ## The Python environment

$(VENV)/.ready: requirements.txt
	@echo "== Python packages"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

switch: venv ## The embedded switch
	@echo "== the embedded switch"
	cd switch && $(CARGO) build --release --locked --bin wayname-switch

test: test-switch ## All tests

test-switch: venv ## The embedded switch's tests
	cd switch && $(CARGO) test --locked --workspace

conformance: venv ## p4c's own cases on the embedded switch: make conformance P4C_TESTDATA=<p4c's testdata folder>
	@test -d "$(P4C_TESTDATA)/p4_16_samples" || { echo "say where p4c's cases are: make conformance P4C_TESTDATA=<p4c>/testdata"; exit 2; }
	cd switch && $(CARGO) run --release --locked --bin conformance -- "$(P4C_TESTDATA)"

fmt: ## Format all sources
	cd switch && $(CARGO) fmt --all

lint: venv ## Check formats and style
	cd switch && $(CARGO) fmt --all --check
	cd switch && $(CARGO) clippy --locked --workspace --all-targets -- -D warnings

clean: ## Remove what was built
	rm -rf $(VENV) switch/target
