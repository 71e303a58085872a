# make demo         build pinfold and watch it work on a sample project
# make check-quick  after each change: a minute, installs nothing
# make test         all tests, as the user who types it: a quarter of an hour
# make ci           what CI runs: all of the below but bench and long
# make help         the rest

GO      ?= go
BIN     := bin/pinfold
PKGS    := ./...
# Each go.mod of the repository; a test holds that none is left out.
MODULES := . integration/bench docs/examples
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
CLI     := github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli
LDFLAGS := -s -w -X $(CLI).version=$(VERSION)
export GOFLAGS ?= -buildvcs=false

GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help build install man package package-test demo deps check-quick test long race-detector unprivileged portable cross fuzz bench bench-agents lint fmt vet tidy examples ci clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t16

build: ## bin/pinfold
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/pinfold

install: ## into $GOBIN
	CGO_ENABLED=0 $(GO) install -trimpath -ldflags '$(LDFLAGS)' ./cmd/pinfold
	@bin=$$($(GO) env GOBIN); path=$$($(GO) env GOPATH); bin=$${bin:-$${path%%:*}/bin}; echo "installed: $$bin/pinfold"; \
	case ":$$PATH:" in *":$$bin:"*) ;; *) echo "$$bin is not in your \$$PATH. Type: export PATH=\"\$$PATH:$$bin\"" ;; esac

man: ## man pages into dist/man
	$(GO) run ./cmd/pinfold man dist/man

package: ## deb, rpm, OCI image, SBOM and checksums into dist
	@sh .ci/package/build dist && sh .ci/package/contents dist

package-test: ## the packages in a bare Debian and in containers; root on Debian, some minutes
	@sh .ci/package/test

demo: build ## a sample project, a command inside, what works and what is refused
	@sh testdata/demo/demo.sh $(BIN)

deps: ## programs that the tests use; installed when root on Debian, named otherwise
	@sh .ci/deps

check-quick: ## what to run after each change: a minute, no installs, no root
	@sh .ci/quick

test: ## all tests; a skipped test is a failure
	@echo "All tests: 15 to 20 minutes on two quiet CPUs, longer beside other work; make check-quick takes one."
	@echo "What .ci/node, .ci/checkouts and .ci/agents name is fetched once (1.5 GB), into $${XDG_CACHE_HOME:-~/.cache}/pinfold-*."
	@sh .ci/deps
	@sh .ci/gotest ./integration $(PKGS) # the longest first
	@cd integration/bench && sh ../../.ci/gotest $(PKGS)

# In integration the view and the launcher run in processes of their own, which
# the detector does not see: there it is the resolver's surfaces that count. A
# start of a program that it was built into takes many times longer, so of the
# launcher and the command it is what runs at the same time in one process, and
# what kills processes, races them against each other, or starts hundreds, is left
# out; of the view what one thread does to much data, or waits for. make long has
# these too.
race-detector: ## the tests under the race detector
	@sh .ci/gotest -race -skip 'Kill|Processes|FloodIsFolded|^TestPosix$$|^TestMemoryPerFile$$|^TestLarge(Directory|Reads|Writes)$$|^TestWritePathIsAPlace$$' $$($(GO) list ./... | grep -v -e /integration -e /launcher -e /cmd)
	@sh .ci/gotest -race -run 'Watch|Drown|Listener|Answer|Cancel|Hung' -skip 'TellsWhatTheViewWould' ./launcher
	@sh .ci/gotest -race -run 'Test[^S]' ./cmd/pinfold ./cmd/pinfold/internal/cli/...
	@sh .ci/gotest -race ./integration/walks
	@sh .ci/gotest -race -run 'TestCorpus/surfaces/(api|afero|iofs)' ./integration

unprivileged: ## all tests as an ordinary user; needs root to become one
	@sh .ci/unprivileged

portable: ## the part that other systems run over os.Root, here
	@sh .ci/gotest -tags portable ./pathresolver/... ./fileskills/...

cross: ## what other systems promise compiles and vets
	GOOS=darwin GOARCH=arm64 $(GO) vet ./pathresolver/... ./fileskills/... ./permission/... ./cmd/...
	GOOS=windows GOARCH=amd64 $(GO) vet ./pathresolver/... ./fileskills/... ./permission/... ./cmd/...
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/pinfold
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/pinfold
	GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/pinfold

long: deps ## what takes longer than CI allows, for hours: 100,000 rounds of each race, 100,000 draws of each property, trees of a million files, every agent, every fuzz target
	PINFOLD_LONG=1 sh .ci/gotest -timeout 24h $(PKGS)
	@sh .ci/gotest -race -timeout 24h $$($(GO) list ./... | grep -v /integration)
	@sh .ci/fuzz $${FUZZTIME:-1m}

fuzz: ## each fuzz target for FUZZTIME (1m)
	@sh .ci/fuzz $${FUZZTIME:-1m}

bench: build ## side by side with the alternatives, as ratios from one run; BENCHFLAGS=--help tells more
	cd integration/bench && $(GO) run . --pinfold $(CURDIR)/$(BIN) $(BENCHFLAGS)

bench-agents: build ## how much longer each agent takes to start inside than native, medians of 15 pairs
	PINFOLD_BIN=$(CURDIR)/$(BIN) $(GO) test ./integration/agents -timeout 2h -run '^$$' -bench Start -benchtime 15x

lint: ## golangci-lint with .golangci.yml
	@for m in $(MODULES); do echo "lint $$m"; (cd $$m && $(GO) run $(GOLANGCI) run $(PKGS)) || exit 1; done

fmt: ## fail on files that gofmt would change
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "not gofmt-ed:"; echo "$$out"; exit 1; }

vet: ## go vet
	@for m in $(MODULES); do echo "vet $$m"; (cd $$m && $(GO) vet $(PKGS)) || exit 1; done

tidy: ## fail when a go.mod or go.sum is not tidy
	@for m in $(MODULES); do echo "tidy $$m"; (cd $$m && $(GO) mod tidy -diff) || exit 1; done

examples: ## the examples of docs, which are a module of their own
	cd docs/examples && $(GO) test -count=1 ./...

ci: export ARCHES ?= $(shell $(GO) env GOARCH)
ci: test fmt vet tidy lint examples portable unprivileged race-detector cross package ## what CI runs
	@sh .ci/leftovers

clean: ## remove what was built
	rm -rf bin dist
