# `make help` lists what there is.
.DEFAULT_GOAL := help
.PHONY: bench figures docs record mutants hunt hunts-check help run test e2e scale matrix controlplane soak-diff lint generate clean

GO ?= go

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

# The cluster to write to has to be named for this very command, so a CLUSTER or
# ALLOW_WRITES that happens to be exported does not count.
said = $(if $(filter command,$(firstword $(origin $(1)))),$(filter-out 0 no false,$($(1))))
run: ## start everything and watch events pass the layers (ONCE=1: end when the Mirror is Ready; CLUSTER=kubeconfig ALLOW_WRITES=1: in that cluster)
	$(if $(filter environment,$(origin CLUSTER)),$(warning CLUSTER of the environment is not used, say: make run CLUSTER=path/to/kubeconfig))
	@$(GO) build -o bin/playground ./internal/lab/playground
	@exec bin/playground $(if $(filter-out 0 no false,$(ONCE)),--once) $(if $(call said,CLUSTER),--cluster="$(CLUSTER)") $(if $(call said,ALLOW_WRITES),--allow-writes)

test: ## bring the control plane, then run every test with the race detector (but the swap matrix: make pairs)
	@GO="$(GO)" sh tools/test.sh

pairs: ## run the operator on all pairs of layers that can be wired, ours and upstream's, and print the table
	@GO="$(GO)" sh tools/pairs.sh

matrix: ## run the operator on every combination of layers, for half an hour, and write docs/matrix.md
	$(GO) test ./full/runtime/assembly -race -run '^TestMatrix$$' -v -timeout 0 -parallel 5 -args -matrix.all -matrix.write -matrix.clusters=5

e2e: ## the life of a Mirror on a control plane with controllers, where namespaces really go
	@GO="$(GO)" sh tools/e2e.sh

bench: ## measure the layers against upstream, 12 minutes on an idle machine (BENCH=regexp: some rows); exits 1 if a row misses its gate
	@GO="$(GO)" $(GO) run ./internal/lab/bench $(if $(BENCH),-only="$(BENCH)")

scale: ## a Mirror on 300 namespaces at once, and 50 on 200: prints time and requests
	MIRROR_SCALE=1 $(GO) test ./full/controller -run TestScale -count=1 -v -timeout 30m

controlplane: ## bring etcd and kube-apiserver to this machine (CONTROLLER_MANAGER=1: kube-controller-manager, too)
	$(GO) run ./internal/controlplane/cmd/controlplane $(if $(CONTROLLER_MANAGER),--with-controller-manager)

lint: ## go vet, gofmt
	@GO="$(GO)" sh tools/lint.sh

generate: ## write again what is generated from Go types: deep copies, CRD, RBAC
	$(GO) tool -modfile=tools/go.mod controller-gen object paths=./full/api/...
	$(GO) tool -modfile=tools/go.mod controller-gen crd paths=./full/api/... output:crd:dir=full/config/crd
	$(GO) tool -modfile=tools/go.mod controller-gen rbac:roleName=mirror-operator paths=./full/controller/... output:rbac:dir=full/config/rbac

soak-diff: ## random programs on ours and on upstream, with fresh seeds, for DURATION=1h
	@GO="$(GO)" DURATION="$(or $(DURATION),1h)" sh tools/soak-diff.sh

mutants: ## change one statement at a time and list what no test notices (takes its time; ONLY=regexp: some files)
	$(GO) run ./internal/lab/mutants $(if $(ONLY),-only="$(ONLY)",-write=docs/mutants.md)

hunt: ## a fault is put in, you find it: lists the hunts (H=05-2: begin one; HINT=1; CHECK=1 or CHECK=my.patch; SOLUTION=1)
	@$(GO) run ./internal/lab/hunts $(if $(call said,H),-hunt="$(H)") $(if $(call said,HINT),-hint="$(HINT)") $(if $(call said,CHECK),-check="$(CHECK)") $(if $(call said,SOLUTION),-solution)

hunts-check: ## hold that a test notices the fault of each hunt, and that each solution passes (H=05-2: of one)
	@$(GO) run ./internal/lab/hunts -verify $(if $(call said,H),-hunt="$(H)")

figures: ## draw docs/figures anew from their texts (RECORD=1: record the traces anew first, on a real API server)
	$(if $(RECORD),$(GO) run ./internal/lab/figures -record)
	$(GO) run ./internal/lab/figures

docs: ## fill in what the texts take from the sources (excerpts, output, links, tables, figures), then check them
	$(GO) run ./internal/lab/figures
	$(GO) run ./internal/lab/book -write

record: ## run the commands whose output the texts show, and keep it (RUN="name name": only those; CHECK=1: only compare)
	$(GO) run ./internal/lab/book -record $(if $(CHECK),-check )$(RUN)

clean: ## remove what was built here; the control plane's binaries stay in the user's cache
	rm -rf bin
	$(GO) clean -testcache
