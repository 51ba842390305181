# Every command makes .venv first; PYTHON picks the interpreter (3.11 to 3.13).
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

.PHONY: help demo test lint bench fuzz clean
help:  ## what can be made
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

demo: .venv/ready  ## find the copies in the small web of pages in examples/
	$(BIN)/neardup dedup examples/web -o demo-out --overwrite --show 20

lint: .venv/ready  ## style, types and the layering of the rooms
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint  ## all tests; installs Debian's chromium for the browser tests where it may
	tests/install_chromium.sh
	$(BIN)/python -m pytest

bench: .venv/ready  ## neardup and its peers side by side: make bench ROWS="simhash minhash" SIZE=small
	$(BIN)/python -m benchmarks --size $(or $(SIZE),small) $(ROWS)

fuzz: .venv/ready  ## N mutated pages and records through the whole job (1,000,000 unless told)
	$(BIN)/python -m benchmarks.fuzz --count $(or $(N),1000000)

clean:  ## remove what was made here
	rm -rf .venv .bench demo-out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
