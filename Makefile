# make demo    fit topics to Python's standard library, in a fresh environment
# make quick   style, and a selection of fast tests, for every edit
# make test    everything CI checks, in a fresh environment
# make check   style and types only
# make coverage   the tests with the coverage of the package
# make docs    build the documentation into site/
# make dist    build what is released into dist/: a wheel and a source distribution
# make release-check   install both in environments of their own, and try them
# make bench   compare with other packages, into benchmarks/REPORT.md; QUICK=1 takes ten minutes instead of hours

PYTHON ?= $(shell for v in python3.13 python3.12 python3.11 python3 python; do \
	$$v -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$v; break; }; done)
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo quick test coverage check java browser wrk docs bench dist release-check clean

demo: $(VENV)/.installed
	$(BIN)/semascope demo demo

# Tests for every edit: no Java, MPI or browser, and no file that takes more than a few seconds with compiled kernels.
FAST = tests/contracts tests/equivalence tests/formats tests/properties tests/unit
SLOW = contracts/test_engines contracts/test_sklearn contracts/test_inference contracts/test_kernels \
	equivalence/test_cvb0 equivalence/test_cvb0_sparse equivalence/test_tokenizer equivalence/test_variational \
	equivalence/test_variational_seeded formats/test_hostile properties/test_index properties/test_readers \
	unit/corpus/test_containers unit/evaluation/test_heldout_callback unit/models/test_ctm unit/models/test_learned_priors \
	unit/retrieval/test_index unit/streaming/test_journal unit/training/test_online_lda unit/training/test_resume

quick: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -q -n auto --dist worksteal $(FAST) $(SLOW:%=--ignore=tests/%.py)

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

# Programs that are not Python packages: installed as root on Debian, named in an error elsewhere.
# $(call need,command,package,purpose)
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
