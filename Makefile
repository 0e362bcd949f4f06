# The repository's promises, each one command. They install what they need by themselves.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

NPM_STAMP := node_modules/.package-lock.json

.PHONY: help up down test lint attack bench build generate tools

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# By content: a checkout that only touched them must not take node_modules away from whoever runs on it.
$(NPM_STAMP): package.json package-lock.json .npmrc
	@sum=$$(sha256sum $^ | sha256sum); \
	if [ -e $@ ] && [ "$$sum" = "$$(cat node_modules/.installed 2>/dev/null)" ]; then touch $@; exit; fi; \
	tools/install-build-tools && npm ci --no-fund --no-audit && echo "$$sum" > node_modules/.installed && touch $@

build: $(NPM_STAMP) ## compile src/ into dist/
	node tools/build.mjs

up: build ## start the embedded control plane and a first cluster
	tools/install-kubectl || true
	./bin/rookery up

down: build ## stop a detached control plane
	./bin/rookery down

tools: $(NPM_STAMP)
	tools/install-kubectl
	tools/install-test-clients

ifdef NODE
test: ## unit, property and integration tests; no Docker, no Go (NODE=24.9.0: on that version of Node)
	NODE= tools/with-node $(NODE) $(MAKE) test NODE=
else
test: build tools
	@$(BED) build chromium
	npx vitest run
endif

lint: $(NPM_STAMP) ## format, lint, types, import direction, dead code
	npx biome check .
	npx tsc --noEmit -p .
	npx tsc --noEmit -p console
	node --import tsx tools/gen-api.ts --check
	npx vitest run test/repository
	npx knip

bench: build ## benchmarks: a table, and JSON in bench/results/
	npx tsx bench/main.ts

attack: build ## hostile users against a built server; the result goes to docs/security.md (ARGS="--only floods")
	node --import tsx test/attack/main.ts $(ARGS)

generate: $(NPM_STAMP) ## write what is derived from src/api: CRDs and docs/reference
	node --import tsx tools/gen-api.ts

-include test/bed/bed.mk
