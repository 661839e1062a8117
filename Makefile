PYTHON     ?= python3
VENV_FLAGS ?=
ARGS       ?=
EXAMPLE    ?= dreamzero
CONSTRAINTS ?= constraints.txt
REQUIRE_PYRIGHT ?=

VENV      := .venv
BIN       := $(VENV)/bin
PIP       := $(BIN)/python -m pip --quiet --disable-pip-version-check
TORCH_IS_SOMEBODYS := import sys; from importlib.util import find_spec; \
	torch = find_spec("torch"); sys.exit(torch is None or torch.origin.startswith(sys.prefix))
PYRIGHT   := pyright@1.1.414
REFERENCE := .reference/vllm_omni-0.30.0-py3-none-any.whl

.PHONY: help run test check bench clean

help:
	@echo 'make run    stream a real VAE encoder through two states, side by side (ARGS=--break);'
	@echo '           EXAMPLE=cosmos3 denoises with a transformer that borrows its cache instead'
	@echo 'make test   run the tests (ARGS=-x ...)'
	@echo 'make check  rules, drift, lint, format and types'
	@echo 'make bench  how fast the tools and the runtime are, beside what they are measured against'
	@echo 'make clean  forget .venv'
	@echo 'Each prepares .venv itself. PYTHON=python3.12 picks another interpreter;'
	@echo 'VENV_FLAGS=--system-site-packages uses the torch that is installed already.'

run: $(VENV)/ready-demo
	@$(BIN)/session-state generate
	@$(BIN)/python -m examples.$(EXAMPLE) $(ARGS)

test: $(VENV)/ready-dev $(REFERENCE)
	@$(BIN)/python -m pytest -rs $(ARGS)

check: $(VENV)/ready-dev
	@$(BIN)/session-state check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy session_state codegen generated tests/typing examples
	@if command -v npx >/dev/null; then npx --yes $(PYRIGHT) --pythonpath $(BIN)/python; \
	elif [ -z '$(REQUIRE_PYRIGHT)' ]; then echo 'pyright was left out: it needs npx, of Node.js'; \
	else echo 'pyright is required here and needs npx, of Node.js' >&2; exit 1; fi

bench: $(VENV)/ready-dev $(REFERENCE)
	@$(BIN)/python -m benchmarks.tool_speed
	@$(BIN)/python -m benchmarks.runtime_speed --write docs/performance.md

clean:
	@rm -rf $(VENV)

$(VENV)/ready:
	@$(PYTHON) -c 'import sys; sys.version_info < (3, 11) and sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@echo 'Making $(VENV)'
	@$(PYTHON) -m venv $(VENV_FLAGS) $(VENV)
	@touch $@

# `demo` and `dev` are extras of pyproject.toml.
$(VENV)/ready-%: pyproject.toml constraints.txt | $(VENV)/ready
	@echo 'Installing session-state[$*] into $(VENV): torch is among it, so this takes minutes'
	@if $(BIN)/python -c '$(TORCH_IS_SOMEBODYS)'; then \
		echo 'Keeping the torch of $(PYTHON): $(CONSTRAINTS) is not applied'; \
		$(PIP) install --editable '.[$*]'; \
	else \
		$(PIP) install --constraint $(CONSTRAINTS) --editable '.[$*]'; \
	fi
	@touch $@

# What needs the reference skips without it, so no network is no reason to run nothing.
$(REFERENCE): tests/reference/requirements.txt | $(VENV)/ready-dev
	@$(PIP) download --no-deps --require-hashes --dest $(@D) --requirement $< && touch $@ \
		|| echo 'The reference could not be fetched: the tests that use it will skip.'
