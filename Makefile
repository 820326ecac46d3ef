# Every target that needs Python makes .venv first; nothing else has to be installed than python3 with venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup run test fmt lint types layers docs docs-check eval eval-run eval-seeds eval-feeds eval-extract eval-peers eval-topics eval-stories eval-cases runners flink-test runners-all gcs-test crash soak runners-get runners-wait ci clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

setup: $(READY) ## Make .venv with the command .venv/bin/newsbeam

$(READY): setup.py constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[query,dev]'
	@touch $(READY)

run: $(READY) ## Run the shipped configuration: seeds/ into out/, offline
	$(BIN)/newsbeam run -c configs/newsbeam.yaml

test: $(READY) ## Run the tests
	$(BIN)/python -m pytest -q -n 2

fmt: $(READY) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(READY) ## Check format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## Check the types
	$(BIN)/mypy

layers: $(READY) ## Check that transforms/ never imports pipeline/
	$(BIN)/lint-imports

docs: $(READY) ## Write the generated pages of docs/
	$(BIN)/python -m transforms.write.meta docs

docs-check: $(READY) ## Check that the generated pages are up to date
	$(BIN)/python -m transforms.write.meta docs --check

eval: eval-extract eval-run eval-seeds eval-feeds eval-topics eval-stories eval-cases ## Measure quality on the packs (left out where they are not)

eval-run: $(READY) ## The whole program over loopback with real pages
	$(BIN)/python tests/eval/eval_run.py

eval-seeds: $(READY) ## Seeds: cases from the field
	$(BIN)/python tests/eval/eval_seeds.py

eval-feeds: $(READY) ## Feeds: bug cases, real feeds, dates, beside other parsers
	$(BIN)/python tests/eval/eval_feeds.py
	$(BIN)/python tests/eval/eval_feeds_http.py

eval-extract: $(READY) ## Extraction: text and metadata, beside other extractors
	$(BIN)/python tests/eval/eval_extract.py

eval-peers: ## Extraction beside readability-lxml, newspaper4k and news-please too, in an environment of its own
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --upgrade pip
	@.venv-peers/bin/python -m pip install --quiet -c constraints.txt -e '.[query,dev,peers]'
	.venv-peers/bin/python tests/eval/eval_extract.py

eval-topics: $(READY) ## Topics: recall and precision on labelled sets
	$(BIN)/python tests/eval/eval_topics.py

eval-stories: $(READY) ## Stories: copies found, different stories kept apart
	$(BIN)/python tests/eval/eval_stories.py

eval-cases: $(READY) ## Cases from the field, each as a user would run it
	$(BIN)/python tests/eval/eval_cases.py

runners: $(READY) ## Table of runners: rows equal, streams equal, CPU time (builds what is missing)
	deploy/prism/build.sh $(BIN)/python && deploy/get_jars.sh flink && deploy/get_jars.sh spark
	deploy/loopback_only.sh $(BIN)/python bench/runners.py

flink-test: $(READY) ## A stream on a real Flink cluster whose TaskManager is killed
	deploy/prism/build.sh $(BIN)/python && deploy/get_jars.sh flink && deploy/get_jars.sh flink-cluster $(BIN)/python
	deploy/loopback_only.sh $(BIN)/python -m pytest -q -s tests/runners/test_flink_cluster.py

runners-all: runners flink-test ## All tests of runners; half an hour
	deploy/loopback_only.sh $(BIN)/python -m pytest -q tests/runners --deselect tests/runners/test_flink_cluster.py

gcs-test: $(READY) ## Datasets in Google Cloud Storage, on two emulators (builds what is missing)
	deploy/gcs/build.sh $(BIN)/python
	deploy/loopback_only.sh $(BIN)/python -m pytest -q tests/gcs

crash: $(READY) ## kill -9 at every step of a commit and at random points, 50 on a disk, 20 on a store; then a rerun
	$(BIN)/python -m pytest -q tests/crash tests/transforms/write/test_write_crash.py
	$(BIN)/python tests/crash/random_kills.py 50
	$(BIN)/python tests/crash/random_kills.py 20 --store

soak: $(READY) ## Half an hour of watch against a server whose feeds publish, edit, fail, move and stall
	deploy/loopback_only.sh $(BIN)/python -m bench.soak --mode watch

runners-get:
	@mkdir -p build
	@deploy/ci_runners.sh get $(PYTHON) >build/runners.log 2>&1 & echo $$! >build/runners.pid

runners-wait:
	@while kill -0 $$(cat build/runners.pid) 2>/dev/null; do sleep 1; done; cat build/runners.log

# Prism and Flink are fetched and built beside the installation, and are there before the first test runs.
ci: runners-get $(READY) lint types layers docs-check runners-wait test ## All checks; what .ci/run calls
	$(MAKE) -j 2 eval
	deploy/ci_runners.sh test $(BIN)/python

clean: ## Remove what was made here
	rm -rf $(VENV) .venv-peers build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache
