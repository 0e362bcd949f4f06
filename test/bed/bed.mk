# The real bed: docs/development/real-bed.md. Included by the root Makefile.
BED := node --import tsx test/bed/cli.ts

.PHONY: bed bed-list bed-shell bed-stop e2e conformance
bed: $(NPM_STAMP) ## build real Kubernetes software (PARTS="k3d-cli kubernetes" for some of it)
	@$(BED) build $(PARTS)

bed-list: $(NPM_STAMP) ## what of the bed is there, missing or impossible here
	@$(BED) list

bed-shell: $(NPM_STAMP) ## a shell with all its tools and Docker running
	@$(BED) shell

bed-stop: $(NPM_STAMP) ## stop services of the bed that nobody uses
	@$(BED) stop

e2e: build ## suites on real software (SUITES="kind k3d", EXCUSE="vcluster")
	@node --import tsx test/e2e/run.ts $(SUITES)

conformance: build ## upstream's own specs against a virtual cluster (ARGS="--tier a --focus ResourceQuota")
	@node --import tsx test/conformance/upstream/main.ts $(ARGS)
