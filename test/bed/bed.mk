# The real bed. `make bed [PARTS="k3d-cli kubernetes"]`, `make bed-shell`, `make e2e [SUITES="kind k3d"] [EXCUSE="vcluster"]`.
BED := node --import tsx test/bed/cli.ts

.PHONY: bed bed-list bed-shell bed-stop e2e
bed:
	@$(BED) build $(PARTS)

bed-list:
	@$(BED) list

bed-shell:
	@$(BED) shell

bed-stop:
	@$(BED) stop

e2e:
	@node --import tsx test/e2e/run.ts $(SUITES)
