# `make demo` animates a sample character; `make test` runs the whole test suite. Both make .venv first; `make help` lists the rest.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
OUT ?= out
PYTEST_ARGS ?= -n 2 --dist loadgroup -rs

# One thread a process: the suite runs two processes, and results do not depend on the number of cores.
TEST_ENV = OMP_NUM_THREADS=1

BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
INSTALL = $(PIP) install --quiet --no-build-isolation -c constraints.txt
TORCH = $(shell sed -n 's/^torch==//p' constraints.txt)

ENGINES = tests/engines
ENGINE_MODULES = $(if $(shell command -v npm),$(ENGINES)/node_modules/.installed)

.DEFAULT_GOAL := help
.PHONY: help demo test lint pytest gaits modes oracle tracking bench splats cuda clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 14

demo: $(VENV)/.core ## animate a sample character from a sentence into out/ (GLB, USD, BVH, report, contact sheet)
	$(BIN)/akd animate samples/quadruped.glb "a dog trotting" -o $(OUT) --loop --formats glb,usda,bvh --force

test: lint pytest ## style, types, layers and the whole test suite

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

pytest: $(VENV)/.test $(ENGINE_MODULES)
	$(TEST_ENV) $(BIN)/python -m pytest $(PYTEST_ARGS)

gaits: $(VENV)/.test $(ENGINE_MODULES) ## every rig, gait and seed, measured from the exported files
	$(TEST_ENV) $(BIN)/python -m tests.gaits

modes: $(VENV)/.test ## coherence, swing and seconds of the modes of distillation on the embedded prior
	$(TEST_ENV) $(BIN)/python -m tests.bench.modes

oracle: $(VENV)/.test ## known walks found again from pixels and from latents, with pictures; most of an hour
	$(TEST_ENV) $(BIN)/python -m tests.bench.oracle

tracking: $(VENV)/.test ## every rig, gait and seed tracked on the ground: help, skate, penetration, jitter
	$(TEST_ENV) $(BIN)/python -m tests.bench.tracking

bench: $(VENV)/.test ## milliseconds of kinematics, one distillation and each export
	$(BIN)/python -m tests.bench

splats: $(VENV)/.test ## splatting backends against plain torch: milliseconds and accuracy, two minutes
	$(BIN)/python -m tests.bench.splat

cuda: $(VENV)/.test ## on a CUDA device: gsplat and Warp against plain torch, films, tiny video models, under 8 minutes
	$(BIN)/python -m tests.bench.cuda

clean: ## remove the environment and everything made by the other targets
	rm -rf $(VENV) $(OUT) build dist *.egg-info $(ENGINES)/node_modules .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "akd-sdk needs Python 3.11 or later; name one with PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt setuptools
	@[ "$$(uname -s)" != Linux ] || $(PIP) index versions torch 2>/dev/null | grep -qF '$(TORCH)+cpu' || \
	    echo 'note: pip sees no CPU build of torch $(TORCH) and takes the CUDA build, several GB; to avoid that, name PyTorch'\''s CPU wheel index in PIP_EXTRA_INDEX_URL or a folder of wheels in PIP_FIND_LINKS'

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing akd-sdk and what it needs; torch is large, this takes minutes"
	$(INSTALL) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.core
	$(INSTALL) -e ".[test]"
	@touch $@

$(ENGINES)/node_modules/.installed: $(ENGINES)/package-lock.json
	npm ci --prefix $(ENGINES) --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
