# make run, make demo, make test, make check: `make help` lists all of it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
HEARING := .venv-speech/.ready
LIKENESS := .venv-speech/.ready-likeness
FRAMEWORKS := .venv-clients/.ready
JAVASCRIPT := tests/clients/js/node_modules/.ready
LOCKED := constraints.txt pyproject.toml
PIP_VERSION := 26.0

HOST ?= 127.0.0.1
PORT ?= 8000
WORKERS ?= 1
DEVICE ?= auto
MORE_CHECKPOINTS ?= $(PARLANCE_MORE_CHECKPOINTS)
TEXT ?=
OUT ?= speech.wav
VOICE ?= alloy
TESTS ?= tests
RATES ?= 1 2
SEEDS ?= 1
RATE ?= 1
BURSTS ?= 5 50
PRICE ?= 0
REQUESTS ?= 2000
KILLS ?= 40
# The package's own Base checkpoint, put together from its parts.
OWN_BASE := build/tiny-base
BASE ?= $(OWN_BASE)
# A VoiceDesign checkpoint. What it designs is kept by a Base one.
DESIGN ?=
# The package's own VoiceDesign checkpoint, where DESIGN=1.
OWN_DESIGN := build/tiny-design
DESIGNER = $(if $(filter 1,$(DESIGN)),$(OWN_DESIGN),$(DESIGN))
COMMA := ,
MORE = $(if $(CLONES)$(DESIGN),$(BASE)$(COMMA))$(if $(DESIGNER),$(DESIGNER)$(COMMA))$(MORE_CHECKPOINTS)
MADE_BASE = $(if $(filter $(OWN_BASE),$(BASE)),$(OWN_BASE)/config.json)
TEACHER ?=
TEXTS ?= 250000
TEXT_MINUTES ?= 10
TEXT_SEED ?= 1
PART_MIB ?=
# One file stays on one process: its servers and databases are shared by its tests. The order is that
# of tests/conftest.py.
PYTEST ?= -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: help run demo test test-browser test-kernels crash-test test-speech test-clients check format proto check-proto bench-local bench-load bench-capacity bench-gateway bench-table bench-voices bench-neighbours bench-metering bench-console eval-speech eval-cloning unseen-speech tiny-stage tiny-family has-gpu has-chromium lock screenshots setup setup-dev setup-kernels clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: $(READY) $(if $(CLONES)$(DESIGN),$(MADE_BASE)) $(if $(filter 1,$(DESIGN)),$(OWN_DESIGN)/config.json) ## the product, until Ctrl-C (PORT, HOST, WORKERS, DEVICE; CLONES=1: cloned voices too; DESIGN=1: designed ones as well; or folders: BASE, DESIGN)
	@exec $(PY) -m ttsapp.launch run --host "$(HOST)" --port "$(PORT)" \
	  --workers "$(WORKERS)" --device "$(DEVICE)" --more-checkpoints "$(MORE)"

# Through the environment: a text may hold any character a shell knows.
demo: export PARLANCE_DEMO_TEXT = $(value TEXT)
demo: $(READY) ## one text to a WAV file, everything checked (TEXT, OUT, VOICE)
	@exec $(PY) -m ttsapp.launch demo --text "$$PARLANCE_DEMO_TEXT" --out "$(OUT)" --voice "$(VOICE)" --device "$(DEVICE)"

test: $(READY_DEV) ## the whole suite (TESTS=path for a part)
	$(PY) -m pytest $(PYTEST) -m "not speech and not clients" $(TESTS)

check: $(READY_DEV) check-proto ## lint, format, strict types, import contracts, generated code
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(READY_DEV) ## put the code into shape
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

PROTOC = $(PY) -m grpc_tools.protoc -I. --python_out=$(1) --grpc_python_out=$(1) --pyi_out=$(1) gpu_engine/proto/engine.proto

proto: $(READY_DEV) ## generate the engine contract's code
	$(call PROTOC,.)

check-proto: $(READY_DEV)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(call PROTOC,"$$fresh"); \
	for file in "$$fresh"/gpu_engine/proto/*; do diff -q "$$file" "gpu_engine/proto/$$(basename "$$file")" \
	  || { echo "generated code is out of date: make proto"; exit 1; }; done

bench-local: $(READY_DEV) ## first audio, real time, underruns on this machine (SETUP=1: set-up too)
	@if [ -n "$(SETUP)" ]; then \
	  clone=$$(mktemp -d); trap 'rm -rf "$$clone"' EXIT; git clone --quiet . "$$clone/parlance"; \
	  began=$$(date +%s); $(MAKE) -C "$$clone/parlance" setup; \
	  export PARLANCE_SETUP_SECONDS=$$(( $$(date +%s) - began )); \
	fi; \
	$(PY) -m ttsapp.launch with --warm -- $(PY) -m gpu_engine bench --out docs/benchmarks; \
	$(PY) -m tests.docs.measured

bench-load: $(READY_DEV) ## an open loop at given rates through the whole product (RATES, SEEDS)
	@exec $(PY) -m ttsapp.launch with --warm -- $(PY) -m gpu_engine bench load --rates $(RATES) --seeds $(SEEDS)

bench-capacity: $(READY_DEV) ## the highest rate that is served in time, and its cost (PRICE an hour)
	@exec $(PY) -m ttsapp.launch with --warm -- $(PY) -m gpu_engine bench capacity --price $(PRICE)

bench-voices: $(READY_DEV) $(MADE_BASE) ## clones beside presets: first audio, and listeners while voices are made (BASE=folder)
	@test -f "$(BASE)/config.json" || { echo "BASE=folder of a Base checkpoint is needed (docs/voices.md)"; exit 1; }
	@exec $(PY) -m ttsapp.launch with --more-checkpoints "$(BASE)" -- $(PY) -m gpu_engine bench voices --rates $(RATES)

bench-neighbours: $(READY_DEV) ## one tenant's listeners alone, and beside another's burst (RATE, BURSTS)
	@exec $(PY) -m ttsapp.launch with -- $(PY) -m gpu_engine bench neighbours --rate $(RATE) --bursts $(BURSTS)

bench-gateway: $(READY_DEV) ## what the control plane adds to first audio, at 1, 10 and 50 requests/s
	$(PY) -m gpu_engine.bench.gateway

bench-table: $(READY_DEV) ## the README's table of figures from docs/benchmarks
	$(PY) -m tests.docs.measured

bench-metering: $(READY_DEV) ## requests/s that the ledger takes, and a year of it read (Postgres; DATABASE_URL)
	$(PY) -m billing.bench

bench-console: $(READY_DEV) ## how long each page takes the server, a thousand tenants' year in it (Postgres; DATABASE_URL)
	$(PY) -m ttsapp.console.bench

screenshots: has-chromium $(READY_DEV) ## docs/screenshots: every page, two widths, light and dark (the installed Chromium)
	$(PY) -m ttsapp.launch with -- $(PY) -m tests.browser.screenshots

test-browser: has-chromium $(READY_DEV) ## the console in the installed Chromium
	$(PY) -m pytest tests/browser

# Without one its tests would be skipped, and nothing be said of it.
has-chromium:
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || { echo "Chromium is needed: apt-get install chromium"; exit 1; }

test-clients: $(READY_DEV) $(FRAMEWORKS) $(JAVASCRIPT) ## tenants' own clients, unmodified: Python, JavaScript, Pipecat, LiveKit
	$(PY) -m pytest -m clients tests/clients
	$(PY) -m pytest tests/ttsapp/test_openai_sdk.py tests/ttsapp/test_elevenlabs_sdk.py \
	  tests/ttsapp/test_cartesia_sdk.py tests/ttsapp/test_dashscope_sdk.py tests/ttsapp/test_deepgram_sdk.py

setup-kernels: $(READY_DEV) # Triton, where torch did not bring it
	@$(PY) -c 'import triton' 2>/dev/null || $(PIP) install --no-deps --group kernels

test-kernels: setup-kernels ## GPU kernels without a GPU: interpreted, and compiled for sm_90 (minutes)
	PARLANCE_COMPILE_KERNELS=1 $(PY) -m pytest tests/kernels

crash-test: $(READY_DEV) ## parts killed at random under load: what was heard is what is charged (Postgres, Redis; REQUESTS, KILLS)
	$(PY) -m tests.product.crash --requests $(REQUESTS) --kills $(KILLS)

test-speech: $(READY_DEV) $(HEARING) ## hear what make demo says with a recogniser
	$(PY) -m pytest -m speech tests/speech

STAGE := .stage
TEACHER_PY := $(STAGE)/venv/bin/python
TEACHER_READY := $(STAGE)/teacher/kokoro/pieces.json
HELD_OUT = $(STAGE)/texts/heldout.jsonl $(STAGE)/teacher/heldout_sentences.txt tests/speech/sentences.txt tests/speech/heldout.txt
CHECKPOINT ?=
PARTLY ?=
DESCRIBED := build/speech/described/report.json

# Without a teacher the codec is not measured alone; all else is.
eval-speech: $(READY_DEV) $(HEARING) $(MADE_BASE) $(DESCRIBED) $(if $(TEACHER)$(wildcard $(TEACHER_READY)),unseen-speech) ## 200 unseen sentences, held to the gates (CHECKPOINT, BASE: folders, else the product; TEACHER; PARTLY=1)
	@exec $(if $(CHECKPOINT),,$(PY) -m ttsapp.launch with --) $(PY) -m tests.speech.evaluate \
	  $(if $(CHECKPOINT),--checkpoint "$(CHECKPOINT)") --base "$(BASE)" --described $(DESCRIBED) $(if $(PARTLY),--partly)

# Whether described voices are as described.
$(DESCRIBED): $(OWN_DESIGN)/config.json | $(READY)
	$(PY) -m gpu_engine train evaluate --told --checkpoint $(OWN_DESIGN) --count 96 \
	  --sentences tests/speech/sentences.txt --out $(@D)

eval-cloning: $(READY_DEV) $(HEARING) $(LIKENESS) $(MADE_BASE) unseen-speech ## whom clones of unseen speakers sound like (BASE, TEACHER, PARTLY=1)
	@exec $(PY) -m tests.speech.cloning --base "$(BASE)" $(if $(PARTLY),--partly)

unseen-speech: $(TEACHER_READY)
	$(TEACHER_PY) -m tests.speech.unseen $(STAGE)/teacher build/speech/teacher

$(TEACHER_READY):
	@test -f "$(TEACHER)/prepare.py" || { echo "TEACHER=folder of the teacher's code is needed (docs/training.md)"; exit 1; }
	mkdir -p $(STAGE)/teacher && cp -r "$(TEACHER)"/*.py "$(TEACHER)"/*.txt $(STAGE)/teacher/
	test -x $(TEACHER_PY) || $(PYTHON) -m venv $(STAGE)/venv
	$(TEACHER_PY) -m pip install --quiet torch==2.13.0 rich -r "$(TEACHER)/requirements.txt"
	cd $(STAGE)/teacher && ../venv/bin/python prepare.py kokoro

tiny-stage: $(TEACHER_READY) ## what training the tiny checkpoint needs, in parts that travel (TEACHER, TEXTS, TEXT_MINUTES, TEXT_SEED, PART_MIB)
	$(TEACHER_PY) -m gpu_engine.train.corpora.seeds $(STAGE)/teacher $(STAGE)/texts
	$(TEACHER_PY) -m gpu_engine.train.cli texts $(STAGE)/texts/seeds.jsonl --words $(STAGE)/texts/words.txt \
	  --avoid $(HELD_OUT) --phonemes gpu_engine.train.corpora.kokoro:phonemise \
	  --count $(TEXTS) --minutes $(TEXT_MINUTES) --seed $(TEXT_SEED) --out $(STAGE)/texts.jsonl.gz
	@# A part travels with the checkout: 61 MiB together.
	tree=$$(git ls-files -co --exclude-standard | tr '\n' '\0' | du -cb --files0-from=- | tail -1 | cut -f1); \
	$(TEACHER_PY) -m gpu_engine.train.cli pack $(addprefix $(STAGE)/teacher/,kokoro teacher.py fused.py) \
	  $(STAGE)/texts.jsonl.gz --size "$${PART_MIB:-$$((61 - tree / 1048576))}" --out $(STAGE)/parts

FAMILY := build/family

tiny-family: has-gpu tiny-stage $(OWN_BASE)/config.json ## the tiny checkpoints anew, trained on from the package's own: ten minutes on two H200s (TEACHER)
	@echo "The Talker trains for 7 minutes, while speech is made and behind it; with compiling it is ten minutes on two H200s"
	$(TEACHER_PY) -m gpu_engine.train.cli tiny --manifest gpu_engine/train/family.json --finish \
	  --teacher $(STAGE)/teacher --texts $(STAGE)/texts.jsonl.gz --out $(FAMILY) \
	  --codec $(OWN_BASE)/speech_tokenizer --weights $(OWN_BASE)
	for kind in checkpoint voice_design; do \
	  $(PY) -m gpu_engine train evaluate --told --checkpoint $(FAMILY)/$$kind --count 96 \
	    --sentences $(STAGE)/teacher/heldout_sentences.txt --out $(FAMILY)/heard/$$kind; \
	done

has-gpu: $(TEACHER_READY)
	@$(TEACHER_PY) -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' \
	  || { echo "Training the family needs a GPU that torch can use (nvidia-smi shows it)"; exit 1; }

$(OWN_BASE)/config.json: $(wildcard gpu_engine/assets/tiny/* gpu_engine/assets/cloning/*) | $(READY)
	@echo "Putting the package's own Base checkpoint together: $(OWN_BASE)"
	@$(PY) -m gpu_engine assemble $(OWN_BASE) >/dev/null

$(OWN_DESIGN)/config.json: $(wildcard gpu_engine/assets/tiny/*) | $(READY)
	@echo "Putting the package's own VoiceDesign checkpoint together: $(OWN_DESIGN)"
	@$(PY) -m gpu_engine assemble --kind voice_design $(OWN_DESIGN) >/dev/null

setup: $(READY) ## what running needs

setup-dev: $(READY_DEV) ## what developing needs

# How constraints.txt is made: everything in one fresh environment, as one consistent set.
lock: ## pin the newest versions that fit pyproject.toml
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet pip==$(PIP_VERSION)
	build/lock/bin/python -m pip install --quiet torch==2.13.0 . --group dev
	build/lock/bin/python -m pip install --quiet --no-deps dashscope==2.0.2
	build/lock/bin/python -m pip freeze --exclude parlance --exclude pip --exclude setuptools \
	  | grep -viE '^(nvidia|cuda|triton)' | sed 's/+cpu$$//' | sort -f > constraints.txt
	rm -rf build/lock

clean: ## remove environments and caches; var/, the product's data, stays
	rm -rf $(VENV) .venv-speech .venv-clients tests/clients/js/node_modules build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 is needed: PYTHON=/path/to/python3.11 make run"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed, $(PYTHON) is older: PYTHON=/path/to/python3.11 make run"; exit 1; }
	@echo "Making $(VENV) (only the first time)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet pip==$(PIP_VERSION)

$(READY): $(LOCKED) | $(VENV)/bin/python
	@echo "Installing what Parlance needs (a few minutes the first time)"
	@$(PIP) install --quiet -c constraints.txt -e .
	@touch $@

$(READY_DEV): $(READY)
	@echo "Installing what its tests need"
	@$(PIP) install --quiet -c constraints.txt --group dev
	@$(PIP) install --quiet --no-deps -c constraints.txt dashscope
	@touch $@

# An environment of their own: 750 MB, and pins that are not ours.
$(FRAMEWORKS): tests/clients/frameworks/requirements.txt
	@$(PYTHON) -m venv .venv-clients
	.venv-clients/bin/python -m pip install --disable-pip-version-check --quiet -r $<
	@touch $@

$(JAVASCRIPT): tests/clients/js/package-lock.json
	npm ci --prefix tests/clients/js --no-audit --no-fund
	@touch $@

# Its own environment: the recogniser is no part of the product. Without it the tests are skipped.
$(HEARING): tests/speech/requirements.txt
	@$(PYTHON) -m venv .venv-speech
	@if .venv-speech/bin/python -m pip install --disable-pip-version-check -r $<; then touch $@; \
	  else echo "The recogniser cannot be installed here: speech is not heard."; rm -rf .venv-speech; fi

# Who speaks: torch beside the recogniser, for one command only.
$(LIKENESS): tests/speech/requirements-likeness.txt | $(HEARING)
	.venv-speech/bin/python -m pip install --disable-pip-version-check torch==2.13.0
	.venv-speech/bin/python -m pip install --disable-pip-version-check --no-deps -r $<
	@touch $@
