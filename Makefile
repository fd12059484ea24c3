# Every command of the project. `make` alone lists them; each does all of its own set-up.

.DEFAULT_GOAL := help
SHELL := /bin/sh

# The interpreter that makes the environment: the first of these that is Python 3.11 or newer and has the venv module.
# `make test PYTHON=path/to/python3` names one.
PYTHON ?= python3 python3.13 python3.12 python3.11 python3.14 python
VENV := .venv
BIN := $(VENV)/bin
# Written last, so that an interrupted set-up is done again; newer than what it was made from.
READY := $(VENV)/.ready
FITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
TESTS ?= tests
PORT ?= 8600
# Tests start many processes: where bytecode is not kept, each of them would compile every module anew.
export PYTHONDONTWRITEBYTECODE :=
# The Studio, built from TypeScript into the package; not kept in git. Newer than every source of it.
STUDIO := src/holdfast/server/studio/.built
STUDIO_SOURCES := $(shell find studio -path studio/node_modules -prune -o -type f ! -name '*.test.ts*' ! -name schema.ts -print 2>/dev/null)
# The documentation site, built by `make site`.
SITE := build/docs/site

.PHONY: help run openapi load wheel test check format docs site bench chaos studio studio-test studio-bench studio-pictures clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

# The first start makes the admin; this password is for trying out on your own machine.
run: export HOLDFAST_ADMIN_PASSWORD ?= holdfast-demo
run: $(READY) $(STUDIO) ## Start the server on SQLite with the example workflows (PORT=8600)
	@mkdir -p .run
	@echo "sign in as admin with the password $$HOLDFAST_ADMIN_PASSWORD"
	$(BIN)/holdfast serve --store sqlite:///.run/holdfast.db --port $(PORT) \
	  $(if $(wildcard $(SITE)/index.html),--docs $(SITE)) \
	  examples/03_flowchart.json examples/05_elsa.json examples/02_approval.py:approval examples/08_plain_python.py:fulfil

openapi: $(READY) ## Write studio/openapi.json anew from the routes
	$(BIN)/python docs/openapi.py

# Tests wait half of their time, for databases, processes and browsers: three at once use two cores well.
test: check studio-test ## Set up, then lint, types, layers and all tests (TESTS=path for some)
	$(BIN)/pytest -n 3 --dist worksteal $(TESTS)

check: $(READY) ## Lint, format, types and layers, without the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY) ## Put the source in form and mend what lint can mend
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

studio: $(STUDIO) ## Build the Studio (web) into the package; run and test do it by themselves

studio-test: $(STUDIO) ## The Studio's unit tests (without a browser)
	@if [ -d studio/node_modules ]; then cd studio && npm test --silent; else echo "Studio: no npm, its unit tests are skipped."; fi

studio-bench: $(READY) $(STUDIO) ## Measure the Studio in a browser, write benchmarks/results/studio.json
	$(BIN)/python -m benchmarks.studio

studio-pictures: $(READY) $(STUDIO) ## Take the pictures of docs/studio anew, in a browser
	$(BIN)/python -m benchmarks.studio_pictures

site: $(READY) ## Build the documentation site into build/docs/site, strictly and offline; run serves it under /docs
	$(BIN)/python docs/build_site.py

docs: $(READY) ## Write docs/reference anew from the code
	$(BIN)/python docs/generate.py

bench: $(READY) ## Measure, print the figures, write benchmarks/results/latest.json (GROUPS="python …" for some)
	$(BIN)/python -m benchmarks $(if $(GROUPS),--keep $(GROUPS))

load: $(READY) ## Measure the server from outside, print the figures, write benchmarks/results/load.json
	$(BIN)/python -m benchmarks.load

wheel: $(READY) $(STUDIO) ## Build wheel and source archive, install each into an empty environment and serve from it
	$(BIN)/python -m tests.wheel

chaos: $(READY) ## Kill workers, servers and databases for long, write benchmarks/results/chaos.json (PARTS="sqlite …" for some)
	$(BIN)/python -m tests.chaos $(PARTS)

clean: ## Remove the environment and everything that tools left behind
	rm -rf $(VENV) .run .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .bench build dist
	rm -rf src/holdfast/server/studio studio/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Without npm the server runs all the same; it only has no Studio to show.
$(STUDIO): $(STUDIO_SOURCES)
	@if command -v npm >/dev/null 2>&1; then \
	  cd studio && \
	  { [ node_modules/.package-lock.json -nt package-lock.json ] || { echo "Studio: installing its packages" && npm ci --silent; }; } && \
	  echo "Studio: building" && npm run build --silent -- --logLevel warn && touch ../$@; \
	else \
	  echo "Studio: npm was not found, so it is not built and the server has none. Install Node.js 20 or newer, then: make studio"; \
	fi

$(READY): pyproject.toml constraints.txt
	@$(BIN)/python -c '$(FITS)' 2>/dev/null || { \
	  for candidate in $(PYTHON); do \
	    if $$candidate -c '$(FITS)' 2>/dev/null; then found=$$candidate; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "Holdfast needs Python 3.11 or newer with its venv module; tried: $(PYTHON)." >&2; \
	    echo "Install one (on Debian: apt install python3 python3-venv) or name it: make PYTHON=/path/to/python3" >&2; \
	    exit 1; \
	  fi; \
	  echo "Making $(VENV) with $$($$found --version)"; \
	  $$found -m venv --clear $(VENV); \
	}
	@echo "Installing Holdfast and its tools"
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation --editable '.[dev]'
	@touch $@
