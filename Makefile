# make demo    topics of Python's standard library, from nothing
# make test    everything CI checks, from nothing
# make check   style and types only
# make bench   comparisons with other packages

PYTHON ?= $(shell for v in python3.13 python3.12 python3.11 python3 python; do \
	$$v -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$v; break; }; done)
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check java browser bench clean

demo: $(VENV)/.installed
	$(BIN)/semascope demo demo

test: check java browser
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Spark needs Java; as root on Debian it is installed, elsewhere people are told.
java:
	@command -v java > /dev/null || [ -n "$$JAVA_HOME" ] || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
			apt-get update -qq && apt-get install -qq --yes openjdk-17-jre-headless; \
		else \
			echo "The tests of the Spark engine need Java 17 or later (Debian: apt-get install openjdk-17-jre-headless)."; exit 1; \
		fi; }

# The explorer is tested in a browser: Debian's Chromium, which is installed likewise.
browser:
	@command -v chromium > /dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
			apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium; \
		else \
			echo "The tests of the explorer need Chromium (Debian: apt-get install chromium)."; exit 1; \
		fi; }

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed, with pip and venv (Debian: apt install python3-venv)."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[explore]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[bench,test]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
