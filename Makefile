# Every target sets itself up: a virtual environment in .venv with the locked versions, made once.
#
#   make lab        JupyterLab with the first notebook      (LAB_FLAGS="--no-browser --port 8899")
#   make test       the tests                               (TEST_FLAGS="-k language")
#   make gpu        tests and benchmark on a GPU            (GPU_FLAGS="--part bench"); sets nothing up
#
# PYTHON names the interpreter the environment is made with (3.11 or newer).

SHELL      := /bin/sh
PYTHON     ?= python3
RUN        := .venv/bin/python -m
NOTEBOOK   ?= notebooks/index.ipynb
LAB_FLAGS  ?=
# How many processes share the tests; those of one file stay together, and those of the browser.
WORKERS    ?= logical
SHARED     := -n $(WORKERS) --maxprocesses=4
TEST_FLAGS ?=
BENCH_FLAGS ?=
GPU_FLAGS  ?=
export PYTHON
# Workers and the programs that tests start share what is compiled to bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lab test quick newest full notebooks outputs docs film bench gpu gpu-bundle lint stubs format lock clean

help:            ## this list
	@sed -n 's/^\([a-z-]*\): *\(setup\)* *## /  make \1 \t/p' Makefile | expand -t 20

setup:           ## the environment alone
	@sh tools/setup.sh

lab: setup       ## JupyterLab, opened at the notebook of notebooks
	$(RUN) jupyterlab --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url="/lab/tree/$(NOTEBOOK)" $(LAB_FLAGS)

test: setup      ## the tests: of one with many cases an eighth, of the long ones a quarter; no GPU, browser or torch needed
	HYPOTHESIS_PROFILE=ci $(RUN) pytest $(SHARED) --sample 8 --durations 40 --durations-min 3 $(TEST_FLAGS)
	@sh tools/front_end.sh test

quick: setup     ## what to run while writing, of a test with many cases a twelfth, of the long ones a quarter: under three minutes
	HYPOTHESIS_PROFILE=quick $(RUN) pytest $(SHARED) -m "not slow and not gpu" --sample 12 $(TEST_FLAGS)

newest: setup    ## the quick tests on the newest Python found, in .venv-newest
	@sh tools/newest.sh $(SHARED) -m "not slow and not gpu" $(TEST_FLAGS)

full: setup      ## thousands of random programs a property; for a release or a long night
	HYPOTHESIS_PROFILE=full $(RUN) pytest $(SHARED) $(TEST_FLAGS)

notebooks: setup ## execute every notebook; what is stored in it must be what comes of it
	.venv/bin/python tools/run_notebooks.py notebooks

outputs: setup   ## execute every notebook twice and store what comes of it (torch must be installed)
	.venv/bin/python tools/run_notebooks.py notebooks --store

docs: setup      ## the documentation site, into docs/_build/html; any warning or broken link fails
	@sh tools/docs.sh

film: setup      ## the film and the pictures of the panel in docs/images, taken in a browser
	$(RUN) tests.browser.film

bench: setup     ## this project against NumPy and, where installed, PyTorch
	$(RUN) bench $(BENCH_FLAGS)

gpu-bundle:      ## with network: what a machine with a GPU lacks, into .gpu-bundle (under 60 MiB)
	@sh tools/gpu_bundle.sh

gpu:             ## on a machine with a GPU, without network: its tests and benchmark, results into OUT or bench/results
	$(PYTHON) -m bench.gpu $(GPU_FLAGS)

lint: setup      ## ruff, pyright, the size table; eslint and prettier where node is
	$(RUN) ruff check .
	$(RUN) pyright
	.venv/bin/python tools/sizes.py
	@sh tools/front_end.sh lint

stubs: setup     ## write what type checkers read of the names that are loaded on first use
	.venv/bin/python tools/stubs.py

format: setup    ## let ruff repair what it can
	$(RUN) ruff check --fix .

lock:            ## resolve anew and write requirements.lock
	sh tools/lock.sh

clean:           ## remove everything that make made
	rm -rf .venv .venv-newest .venv-lock .gpu .gpu-bundle .pytest_cache .ruff_cache .hypothesis docs/_build bench/out dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
