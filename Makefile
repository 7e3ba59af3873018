# Everything below works from a bare checkout with python3 (3.11 or newer) and make, without root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
TORCH := .venv-torch
EXTRAS := frames,duckdb,excel,spark,validation,plots,mlflow
COMMA := ,
# The first that knows dependency groups and constraints of a build; the one that comes with Python is often older.
PIP := 'pip>=25.3'
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# pip would compile all that it installs, one file after another; Python compiles what is used when it is used.
export PIP_COMPILE := 0
# Tests start many processes: what the first of them compiles is kept for the others.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test every-test test-quick test-deep test-lowest test-torch lint types docs pages bench bench-quick bench-large coverage coverage-quick clean

demo: $(VENV)/.installed        ## set up, then evaluate the predictions that ship with the package
	@$(BIN)/stakes demo

test: lint                      ## set up, then lint, types and every test
	@$(MAKE) --no-print-directory -j2 types every-test

every-test: $(VENV)/.installed-test
	@$(BIN)/python -m pytest $(if $(CI),--durations=10)

test-quick: $(VENV)/.installed-test  ## within a minute: every test that is quick, two cases of each; for the time between two edits
	@$(BIN)/python -m pytest --cases 2 -m 'not (deep or slow or spark or browser or hypothesis)'

test-deep: $(VENV)/.installed-test  ## the large forms: simulations, kills, fuzzing, huge inputs
	@$(BIN)/python -m pytest -m 'deep or hypothesis' --hypothesis-profile=deep

test-lowest: $(LOWEST)/.installed-test  ## every test with the lowest version of each library, and Python 3.11
	@$(LOWEST)/bin/python -m pytest -rs

test-torch: $(TORCH)/.installed-test  ## tensors of PyTorch on the CPU, and two processes; PyTorch has an environment of its own
	@$(TORCH)/bin/python -m pytest tests/with_torch tests/engines/test_tensors.py tests/evaluation/test_counter.py

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.installed-test
	@$(BIN)/mypy

docs: $(VENV)/.installed-test   ## the documentation site, written to build/site; any warning fails
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/site
	@echo "open build/site/index.html"

pages: $(VENV)/.installed-test  ## the pages of docs/ that are made from the code: catalogue, command line, import graph, SQL
	@$(BIN)/python tools/pages

bench: $(VENV)/.installed-bench  ## ratios against peers, measured in one run, written to bench/RESULTS.md; 20 minutes at most
	@$(BIN)/python bench/run.py

bench-quick: $(VENV)/.installed-bench  ## the same with few rows, to the terminal; two minutes at most
	@$(BIN)/python bench/run.py --quick

bench-large: $(VENV)/.installed-bench  ## what needs very many rows, put at the end of bench/RESULTS.md; half an hour at most
	@$(BIN)/python bench/large.py

coverage: $(VENV)/.installed-test  ## how often intervals cover the truth, simulated, written to docs/coverage.md; half an hour at most
	@$(BIN)/python bench/coverage.py

coverage-quick: $(VENV)/.installed-test  ## the same with few samples, to the terminal; two minutes at most
	@$(BIN)/python bench/coverage.py --quick

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "stakes needs Python 3.11 or newer; try: make PYTHON=python3.12 …")'
	@$(PYTHON) -m venv $(VENV)

# The stamps remember which pyproject.toml was installed, so that a second run starts at once.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "installing stakes into $(VENV) …"
	@$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	@echo "installing stakes and its test tools into $(VENV) …"
	@$(BIN)/python -m pip install --quiet $(PIP)
# Spark is as large as the next four together, and shares no part with anything: it is installed beside the rest.
	@$(BIN)/python -m pip install --quiet pyspark & \
		$(BIN)/python -m pip install --quiet -e '.[$(subst spark$(COMMA),,$(EXTRAS))]' --group test && wait $$!
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/bin/python
	@echo "installing stakes and the peers of its bench into $(VENV) …"
	@$(BIN)/python -m pip install --quiet $(PIP)
	@$(BIN)/python -m pip install --quiet -e '.[$(EXTRAS)]' --group bench
	@touch $@ $(VENV)/.installed

# Built anew each time, since pip leaves in place what is newer than it has to be.
$(LOWEST)/.installed-test: pyproject.toml tools/lowest.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "the lowest versions go with Python 3.11; try: make PYTHON=python3.11 test-lowest")'
	@echo "installing stakes and the lowest version of each library into $(LOWEST) …"
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/python tools/lowest.py > $(LOWEST)/constraints.txt
	@$(LOWEST)/bin/python -m pip install --quiet $(PIP)
	@$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt \
		--build-constraint $(LOWEST)/constraints.txt -e '.[$(EXTRAS)]' --group test
	@touch $@

# The build without CUDA, where the index has one: nothing here needs a GPU.
$(TORCH)/.installed-test: pyproject.toml
	@echo "installing stakes and PyTorch into $(TORCH) …"
	@$(PYTHON) -m venv $(TORCH)
	@$(TORCH)/bin/python -m pip install --quiet $(PIP)
	@$(TORCH)/bin/python -m pip install --quiet torch==2.13.0
	@$(TORCH)/bin/python -m pip install --quiet -e . --group torch
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) $(TORCH) build docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
