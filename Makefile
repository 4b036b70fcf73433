# make demo    topics of Python's standard library, from nothing
# make test    everything CI checks, from nothing
# make check   style and types only
# make coverage   the tests again, and which lines of the package none of them reaches
# make docs    the documentation as pages, in site/
# make dist    what is released, in dist/: a wheel and a source distribution
# make release-check   see that both install in an environment of their own, and work there
# make bench   comparisons with other packages, into benchmarks/REPORT.md; QUICK=1 takes ten minutes instead of hours

PYTHON ?= $(shell for v in python3.13 python3.12 python3.11 python3 python; do \
	$$v -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$v; break; }; done)
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test coverage check java browser wrk docs bench dist release-check clean

demo: $(VENV)/.installed
	$(BIN)/semascope demo demo

test: check java browser
	$(BIN)/python -m pytest -n auto --dist worksteal

coverage: check java browser
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n auto --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

check: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Programs that are not Python's: as root on Debian they are installed, elsewhere people are told.
# $(call need,command,package,what it is for)
define need
@command -v $(1) > /dev/null || { \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get update -qq && apt-get install -qq --yes --no-install-recommends $(2); \
	else \
		echo "$(3) (Debian: apt-get install $(2))."; exit 1; \
	fi; }
endef

java:
	$(if $(JAVA_HOME),,$(call need,java,openjdk-17-jre-headless,The tests of the Spark engine need Java 17 or later))

browser:
	$(call need,chromium,chromium,The tests of the explorer need Chromium)
	$(call need,curl,curl,The examples of its page need curl)

wrk:
	$(call need,wrk,wrk,The benchmark of the explorer needs wrk)

docs: $(VENV)/.installed-test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Open site/index.html."

bench: $(VENV)/.installed-bench
	-@$(MAKE) --no-print-directory --keep-going java wrk
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

dist: $(VENV)/.installed-release
	rm -rf dist
	$(BIN)/python -m build --outdir dist

release-check: dist
	$(BIN)/python tests/release/check.py dist

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

$(VENV)/.installed-release: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[release]'
	@touch $@

clean:
	rm -rf $(VENV) demo dist site .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
