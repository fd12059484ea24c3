# All commands of the project. `make` lists them. Each command sets up what it needs.

.DEFAULT_GOAL := help
SHELL := /bin/sh

# Candidates for the interpreter of the environment: the first with Python 3.11 or newer and the venv module is used.
# `make test PYTHON=path/to/python3` selects one.
PYTHON ?= python3 python3.13 python3.12 python3.11 python3.14 python
VENV := .venv
BIN := $(VENV)/bin
# Touched last, so that an interrupted set-up runs again.
READY := $(VENV)/.ready
FITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
PORT ?= 8600
# Tests start many processes. Without cached bytecode each process would compile every module again.
export PYTHONDONTWRITEBYTECODE :=
# Stamp of the Studio build. The build goes into the package and is not committed.
STUDIO := src/holdfast/server/studio/.built
STUDIO_SOURCES := $(shell find studio -path studio/node_modules -prune -o -type f ! -name '*.test.ts*' ! -path studio/src/api/schema.ts -print 2>/dev/null)
# The documentation site, built by `make site`.
SITE := build/docs/site

# Tests wait half of their time for databases, processes and browsers: three workers keep two cores busy.
PYTEST := $(BIN)/pytest -n 3 --dist worksteal

.PHONY: help run openapi load wheel release unit one test check format docs site bench bench-against chaos studio studio-check studio-test studio-bench \
  studio-pictures clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

# The first start creates the user `admin`. This default password is for a local trial only.
run: export HOLDFAST_ADMIN_PASSWORD ?= holdfast-demo
run: $(READY) $(STUDIO) ## Start the server with the example workflows on SQLite (PORT=8600)
	@mkdir -p .run
	@[ -e .run/holdfast.db ] || echo "sign in as admin with the password $$HOLDFAST_ADMIN_PASSWORD"
	$(BIN)/holdfast serve --store sqlite:///.run/holdfast.db --port $(PORT) \
	  $(if $(wildcard $(SITE)/index.html),--docs $(SITE)) \
	  examples/03_flowchart.json examples/05_elsa.json examples/02_approval.py:approval examples/08_plain_python.py:fulfil

openapi: $(READY) ## Generate studio/openapi.json and the types of the client from the routes
	$(BIN)/python docs/openapi.py

unit: $(READY) ## Run the unit and meta tests: no services, no browser, no lint; under a minute
	$(PYTEST) -m "not service and not slow" tests/unit tests/meta

one: $(READY) ## Run one test, file or folder with plain pytest: make one T=tests/unit/model/test_cron.py::test_name
	@[ -n "$(T)" ] || { echo "Name the test: make one T=tests/unit/model/test_cron.py" >&2; exit 2; }
	$(BIN)/pytest '$(T)'

ifdef TESTS
test: $(READY)
	$(PYTEST) $(TESTS)
else
test: check studio-test ## Run everything that CI runs: lint, types, layers, all tests (TESTS="path …" runs only those tests)
	$(PYTEST) tests
endif

check: $(READY) ## Check lint, format, types and layers; run no tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY) ## Format the source and apply the safe lint fixes
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

studio: $(STUDIO) ## Build the Studio (web) into the package; run, test and wheel do this too

studio-check: $(STUDIO) ## Check lint, format and types of the Studio
	@if [ -d studio/node_modules ]; then cd studio && npm run check --silent; else echo "Studio: npm was not found, lint and types are skipped."; fi

studio-test: studio-check ## Run studio-check and the Studio's unit tests; needs no browser
	@if [ -d studio/node_modules ]; then cd studio && npm test --silent; else echo "Studio: npm was not found, unit tests are skipped."; fi

studio-bench: $(READY) $(STUDIO) ## Measure the Studio in a browser, write benchmarks/results/studio.json
	$(BIN)/python -m benchmarks.studio

studio-pictures: $(READY) $(STUDIO) ## Take the screenshots of docs/studio in a browser
	$(BIN)/python -m benchmarks.studio_pictures

site: $(READY) ## Build the documentation site into build/docs/site, strictly and offline; run serves it under /docs
	$(BIN)/python docs/build_site.py

docs: $(READY) ## Generate docs/reference from the code
	$(BIN)/python docs/generate.py

bench: $(READY) ## Run the benchmarks, write benchmarks/results/latest.json (GROUPS="python …" runs some)
	$(BIN)/python -m benchmarks $(if $(GROUPS),--keep $(GROUPS))

bench-against: $(READY) ## Compare with an earlier commit, round by round, write benchmarks/results/against.json (OLD=commit)
	$(BIN)/python -m benchmarks.against $(OLD)

load: $(READY) ## Load-test the server over HTTP, write benchmarks/results/load.json
	$(BIN)/python -m benchmarks.load

wheel: $(READY) $(STUDIO) ## Build wheel and sdist, install each into an empty environment and serve from it
	$(BIN)/python -m tests.release.packages

release: $(READY) $(STUDIO) site ## Build wheel, sdist and site into dist, check each, write checksums; upload nothing (DRY_RUN=1)
	$(BIN)/python -m tests.release $(if $(DRY_RUN),--dry-run)

chaos: $(READY) ## Run the long chaos tests, write benchmarks/results/chaos.json (PARTS="sqlite …" runs some)
	$(BIN)/python -m tests.chaos $(PARTS)

clean: ## Remove the environment and all build products
	rm -rf $(VENV) .run .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .bench build dist
	rm -rf src/holdfast/server/studio studio/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Without npm the Studio is not built; the server runs without it.
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
