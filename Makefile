# `make demo` and `make test` need Python 3.11 or newer, a package index, and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?=

.PHONY: setup browser postgres demo report docs test lint format bench clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'enough needs Python 3.11 or newer; set PYTHON=...')"
	$(PYTHON) -m venv $(VENV)
	# torch first and alone: in one step with the rest, pip may look at newer builds with CUDA in them.
	$(BIN)/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

# Pages are tested in a real browser. Where there is none and it can be installed, it is; elsewhere
# those tests are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { [ "$$(id -u)" = 0 ] \
	  && command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium >/dev/null; } \
	  || echo "no Chromium here: tests of pages will be skipped"

# So is the store on PostgreSQL: on a real server, thrown away afterwards.
postgres:
	@command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] \
	  && command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y postgresql >/dev/null; } \
	  || echo "no PostgreSQL here: tests of it will be skipped"

demo: setup
	$(BIN)/enough demo

report: setup
	$(BIN)/enough report

# The documentation site, into build/site; a broken link or name is an error.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

test: setup browser postgres
	$(BIN)/pytest

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup
	$(BIN)/enough bench scoring $(DATA) --json
	$(BIN)/enough bench label $(DATA) --json
	$(BIN)/enough bench select --json

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
