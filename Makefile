# One command per job; `make` alone lists them.
# Only relative paths are used as targets, so the tree may live in a directory with spaces in its name.

PYTHON ?= python3
PYTEST_ARGS ?=
SEED ?=
ADDRESS ?=
BENCH_ARGS ?=
FUZZ_ARGS ?=
KILLS_ARGS ?=

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := $(VENV)/$(BIN)/python
STAMP := $(VENV)/.installed
OLDEST := .venv-oldest
NEWEST := .venv-newest
CORE := .venv-core
# Tests that need no extra; `test_core_only.py` asks for everything else and wants a hint of one line.
CORE_TESTS := $(addprefix tests/,$(addsuffix .py,project/test_core_only rows/test_rows perceptron/test_perceptron perceptron/test_working_set margins/test_margin margins/test_wide_margin kernels/test_kernels \
	dual/test_kernel_margin certificates/test_certificates certificates/test_digest proofs/test_deadlines estimators/test_bounds datasets/test_datasets geometry/test_geometry))

# Tests that reach most loops; `make coverage` runs them uncompiled, where machine code hides its lines.
LOOP_TESTS := $(addprefix tests/,$(addsuffix .py,rows/test_uncompiled loops/test_text rows/test_plain certificates/test_zeros certificates/test_digest proofs/test_conflicts))

# This tree's sources come first, also when .venv was moved or copied here from elsewhere.
export PYTHONPATH := $(CURDIR)/src
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# numba does not notice a change in a helper of another file: tests start from an empty cache.
# The signals are named because make passes them on a second time, in the middle of the clearing away.
define with_empty_cache
cache="$$(mktemp -d)"; trap 'trap "" HUP INT TERM; rm -rf "$$cache"' EXIT; \
trap 'exit 130' INT; trap 'exit 143' HUP TERM; export NUMBA_CACHE_DIR="$$cache";
endef

# What `lint` reads for wording and American spelling. `normalised` and `renormalised` are public names.
PROSE = docs examples benchmarks README.md CHANGELOG.md CONTRIBUTING.md ARCHITECTURE.md SECURITY.md CODE_OF_CONDUCT.md

.PHONY: help setup test test-slow coverage test-walks test-browser test-random test-oldest test-newest fuzz kills lint format docs release-check \
	playground-static bench bench-edge bench-known bench-trees bench-mnist bench-mnist-kernel demo lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## create .venv and install the project with its development tools

define python_is_new_enough
"$(PYTHON)" -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": make setup PYTHON=...")'
endef

$(STAMP): pyproject.toml constraints.txt
	@$(python_is_new_enough)
	@$(RUN) -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear $(VENV)
	$(RUN) -m pip install --quiet --constraint constraints.txt hatchling editables
	$(RUN) -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@touch $(STAMP)

test: lint ## lint, then every test but the slow ones, docstrings and README included, on all cores
	@$(with_empty_cache) $(RUN) -m pytest --numprocesses auto --dist loadfile $(PYTEST_ARGS)

test-slow: setup ## every test, the slow ones included
	@$(with_empty_cache) $(RUN) -m pytest -m "" $(PYTEST_ARGS)

coverage: setup ## which lines of src the tests reach; loops run uncompiled in a second run; fails below 95 %
	@rm -rf .coverage; $(with_empty_cache) $(RUN) -m coverage run -m pytest --numprocesses auto --dist loadfile \
	  --hypothesis-profile coverage $(PYTEST_ARGS)
	@NUMBA_DISABLE_JIT=1 $(RUN) -m coverage run -m pytest --numprocesses auto --dist loadfile \
	  --hypothesis-profile coverage -m "not slow and not compiled" $(LOOP_TESTS) $(PYTEST_ARGS)
	@$(RUN) -m coverage combine --quiet
	@$(RUN) -m coverage report

test-browser: setup ## the playground in a real Chromium: apt-get install chromium chromium-driver
	@$(RUN) -c 'import shutil, sys; found = shutil.which("chromedriver"); sys.exit(None if found else "No chromedriver was found. On Debian: apt-get install chromium chromium-driver")'
	@$(RUN) -m pytest tests/playground/test_playground_browser.py -m "" $(PYTEST_ARGS)

test-walks: setup ## three new users, each with the built wheel in a clean environment (needs packages)
	$(RUN) tests/walks.py

test-random: setup ## every test but the slow ones, with fresh random cases, ten times as many; SEED=... repeats a run
	@seed="$(SEED)"; seed="$${seed:-$$RANDOM$$RANDOM}"; echo "to repeat this run: make test-random SEED=$$seed"; \
	$(with_empty_cache) $(RUN) -m pytest --numprocesses auto --dist loadfile \
	  --hypothesis-profile random --hypothesis-seed "$$seed" $(PYTEST_ARGS)

test-core: $(CORE)/.installed ## the tests of the core, in an environment without any extra
	@$(with_empty_cache) $(CORE)/bin/python -m pytest --numprocesses auto --dist loadfile $(CORE_TESTS) $(PYTEST_ARGS)

test-oldest: $(OLDEST)/.installed ## the tests of `make test`, on the oldest versions that pyproject.toml allows
	@$(with_empty_cache) $(OLDEST)/$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(PYTEST_ARGS)

test-newest: $(NEWEST)/.installed ## the same on the newest versions there are; they are looked for after `make clean`
	@$(with_empty_cache) $(NEWEST)/$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(PYTEST_ARGS)

$(CORE)/.installed: pyproject.toml constraints.txt
	@$(python_is_new_enough)
	"$(PYTHON)" -m venv --clear $(CORE)
	$(CORE)/bin/python -m pip install --quiet --constraint constraints.txt hatchling editables hypothesis pytest pytest-xdist
	$(CORE)/bin/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable .
	@touch $@

$(OLDEST)/.installed: pyproject.toml tests/oldest.py
	@$(python_is_new_enough)
	"$(PYTHON)" -m venv --clear $(OLDEST)
	$(OLDEST)/$(BIN)/python tests/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/$(BIN)/python -m pip install --quiet --constraint $(OLDEST)/constraints.txt hatchling editables
	$(OLDEST)/$(BIN)/python -m pip install --quiet --constraint $(OLDEST)/constraints.txt --no-build-isolation --editable '.[test]'
	@touch $@

$(NEWEST)/.installed: pyproject.toml
	@$(python_is_new_enough)
	"$(PYTHON)" -m venv --clear $(NEWEST)
	$(NEWEST)/$(BIN)/python -m pip install --quiet hatchling editables
	$(NEWEST)/$(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[test]'
	@touch $@

fuzz: setup ## readers and proofs against referees, on random and on damaged cases; SEED=... repeats a run
	@$(with_empty_cache) $(RUN) -m tests.fuzz $(if $(SEED),--seed $(SEED)) $(FUZZ_ARGS)

kills: setup ## a thousand kills while commands write: nothing is torn, nothing is left; SEED=... repeats a run
	@$(with_empty_cache) $(RUN) tests/kills.py $(if $(SEED),--seed $(SEED)) $(KILLS_ARGS)

lint: setup ## style, formatting, types, import layers and wording; changes nothing
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m codespell_lib
	$(RUN) -m codespell_lib --builtin clear,rare,en-GB_to_en-US --ignore-words-list normalised,renormalised $(PROSE)
	$(RUN) tests/phrases.py $(PROSE) src
	$(RUN) -c 'import sys; from importlinter.cli import lint_imports_command as lint; sys.exit(lint())' --no-logo

format: setup ## put the code in order: formatting and the safe style fixes
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

docs: setup ## build the site into docs/_build/html, with progress; warnings are errors
	$(RUN) -m sphinx --fail-on-warning --keep-going -b html docs docs/_build/html

playground-static: setup ## the playground as a folder for any web server; ADDRESS=https://... for shared links
	$(RUN) -m separatrix.cli play --static build/playground $(if $(ADDRESS),--address "$(ADDRESS)")

release-check: setup ## build, look inside, install in clean environments, use it there; licenses
	$(RUN) tests/release.py

bench: setup ## measure everything in one table; options in BENCH_ARGS
	$(RUN) -m benchmarks $(BENCH_ARGS)

bench-known: setup ## verdicts on real sets with a known answer; options in BENCH_ARGS
	$(RUN) -m benchmarks.known_answers $(BENCH_ARGS)

bench-trees: setup ## this tree beside another checkout; needs BENCH_ARGS="--old CHECKOUT"
	$(RUN) -m benchmarks.two_trees $(BENCH_ARGS)

bench-mnist-kernel: setup ## Freund and Schapire's table; needs BENCH_ARGS="--data DIR"
	$(RUN) -m benchmarks.mnist_kernel_perceptron $(BENCH_ARGS)

bench-mnist: setup ## is MNIST separable? needs BENCH_ARGS="--data DIR --out DIR"
	$(RUN) -m benchmarks.mnist_separability $(BENCH_ARGS)

bench-edge: setup ## verdicts near the edge of separability; options in BENCH_ARGS
	$(RUN) -m benchmarks.edge $(BENCH_ARGS)

demo: setup ## the whole story on the terminal, ending with a report
	$(RUN) -m separatrix.cli demo

lock: ## write constraints.txt again from the newest versions that fit (needs the network)
	@work="$$(mktemp -d)"; trap 'rm -rf "$$work"' EXIT; \
	"$(PYTHON)" -m venv "$$work/venv"; \
	"$$work/venv/bin/python" -m pip install --quiet '.[dev]'; \
	{ echo '# Exact versions of the development set. To refresh it: make lock'; \
	  "$$work/venv/bin/python" -m pip freeze --exclude separatrix; } > "$$work/constraints.txt"; \
	if grep -vE '^(#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+)$$' "$$work/constraints.txt"; then \
	  echo 'the lines above are not name==version; constraints.txt is left as it was' >&2; exit 1; fi; \
	cat "$$work/constraints.txt" > constraints.txt
	@echo "constraints.txt written; run 'make test' and read the difference before committing it"

clean: ## remove the environments and everything that can be made again
	rm -rf $(VENV) $(CORE) $(OLDEST) $(NEWEST) build dist docs/_build docs/course docs/applications docs/benchmarks docs/reference/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
