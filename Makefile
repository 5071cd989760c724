# A thin menu over the commands that everybody can also type. `make` alone prints it.

SEEDS ?= 1000
FUZZTIME ?= 10s
CORE = ./sim ./sim/decide ./sim/vnet ./sim/vdisk ./sim/check ./raft/record ./raft/quorum ./raft/voters \
	./raft/quorumstate ./raft/raftlog

.DEFAULT_GOAL := help
.PHONY: help test race lint nodet campaign verify mutants bench fuzz generate ci wasm 386

help: ## print this menu
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## all tests, as in the README
	go test ./...

race: ## the small core packages under the race detector
	go test -race -short $(CORE)

lint: ## gofmt, go vet, staticcheck, golangci-lint, actionlint and the rules of the house
	@unformatted=$$(git ls-files -z '*.go' ':!:*/testdata/*' | xargs -0 gofmt -l); \
		test -z "$$unformatted" || { echo "not formatted:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	go tool -modfile=tools.mod staticcheck ./...
	go tool -modfile=tools.mod golangci-lint run ./...
	go tool -modfile=tools.mod actionlint deploy/github/pull-request.yml deploy/github/nightly.yml
	go test ./internal/lint

nodet: ## the determinism analyzer over the deterministic rooms
	go run ./cmd/nodet ./...

campaign: ## the main job: ten thousand schedules, within a minute
	go run ./cmd/simrun campaign

verify: ## run SEEDS (1000) seeds twice, in two processes, and compare
	go run ./cmd/simrun verify --seeds $(SEEDS)

mutants: ## the table of planted bugs and what kills them
	go run ./cmd/simrun mutants

bench: ## all benchmarks of the simulator and the scenarios
	go test -run '^$$' -bench . -benchmem ./sim/... ./raft/... ./scenarios/...

fuzz: ## every fuzz target for FUZZTIME (10s)
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

generate: ## write the generated files again
	go generate ./...

ci: ## everything that a change has to pass
	.ci/run

wasm: ## the scenarios build for a browser
	GOOS=js GOARCH=wasm go build ./scenarios/...

386: ## pinned hashes on a 32-bit machine
	GOARCH=386 CGO_ENABLED=0 go test ./sim/... ./scenarios/... -run Regress
