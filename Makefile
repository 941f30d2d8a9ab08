# make demo | make test: each sets up everything it needs in .venv and then does its job.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint slow clean
demo: .venv/ready
	$(BIN)/polyseme demo

test: .venv/ready lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist worksteal

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

slow: .venv/ready                  # minutes to hours: figures of docs/benchmarks.md that a test can check
	$(BIN)/pytest -q -m slow

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "polyseme needs Python 3.11 or newer; found " + sys.version.split()[0] + ". Set PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
