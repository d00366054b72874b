# make check is what a change must pass; make help lists the rest.
TOOL := go tool -modfile=internal/tools/go.mod
LINT := $(TOOL) golangci-lint
FUZZTIME ?= 30s
BENCHCOUNT ?= 1
TORTURE ?= 10m
CUTS ?= 40
GOTESTFLAGS ?=
# SQLite itself, C made Go, runs five times as fast without the race detector's
# eyes; what calls it, and what it calls back, is watched.
RACE := -race -gcflags=all=-dwarf=false "-gcflags=modernc.org/sqlite/lib=-race=false -dwarf=false"
# A test binary with the race detector otherwise sleeps for a second before it exits.
export GORACE ?= atexit_sleep_ms=0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/svcctl, bin/svcctl-client, bin/svcd and bin/svchost
	CGO_ENABLED=0 go build -trimpath -buildvcs=auto -o bin/ ./cmd/svcctl ./cmd/svcctl-client ./cmd/svcd ./cmd/svchost

.PHONY: install
install: ## install svcctl, svcd and svchost to PREFIX/bin, with manual pages and completions (PREFIX=/usr/local, DESTDIR)
	./scripts/install "$(DESTDIR)$(or $(PREFIX),/usr/local)"

.PHONY: demo
demo: ## build svcctl, and let it deploy the guestbook, release a change on its data and roll back, on free ports
	./scripts/demo

.PHONY: walkthrough
walkthrough: build ## record the terminals of docs/guide/getting-started.md and ci.md (Linux; WALKFLAGS=-again writes all)
	go run ./internal/client/walkthrough $(WALKFLAGS)

.PHONY: check
check: fmt-check lint cross-vet generate-check test ## everything a change must pass

# Vet runs with the linters: a second run here, of all dependencies too, costs a minute of CPU.
.PHONY: test
test: ## all tests, end-to-end ones with the real workerd included
	go test $(RACE) -vet=off -shuffle=on -timeout 45m -tags e2e $(GOTESTFLAGS) ./...

.PHONY: e2e
e2e: ## the end-to-end tests alone, every server with the race detector
	go test $(RACE) -shuffle=on -timeout 45m -tags e2e $(GOTESTFLAGS) ./internal/test/e2e -raced 1

.PHONY: test-s3
test-s3: ## the suites of object storage, against the store of S3_ENDPOINT and its keys
	SVC_TEST_STORE=external go test $(RACE) -count=1 -timeout 20m $(GOTESTFLAGS) ./internal/data/s3/... ./internal/data/replica ./internal/data/branch

.PHONY: test-dev-terminal
test-dev-terminal: ## use svcctl dev in a real terminal: keys, resize, Ctrl-C, a broken build, rewind (needs tmux)
	go test -count=1 -tags terminal -timeout 10m $(GOTESTFLAGS) ./internal/test/devterminal

.PHONY: fmt
fmt: ## format the code
	$(LINT) fmt

.PHONY: fmt-check
fmt-check: ## fail when code is not formatted
	$(LINT) fmt --diff

.PHONY: lint
lint: ## run the linters
	$(LINT) run
	cd bench && go tool -modfile=../internal/tools/go.mod golangci-lint run

.PHONY: cross-vet
cross-vet: ## vet the code, tests included, for macOS and for Linux on arm64
	go -C internal/tools run ./crossvet -tags e2e ../.. darwin/amd64 darwin/arm64 linux/arm64

.PHONY: lint-new
lint-new: ## run the linters on what is not committed
	$(LINT) run --new-from-rev=HEAD

.PHONY: generate
generate: ## write everything that is generated
	go generate ./pkg/... ./...

.PHONY: generate-check
generate-check: ## fail when something generated is stale
	./scripts/generate-check

.PHONY: bench
bench: ## run the benchmarks; BENCHCOUNT=10 and benchstat compare two runs
	go test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) ./...

.PHONY: bench-peers
bench-peers: build ## measure the program beside its peers (Linux x64; installs them with npm)
	cd bench && npm install --no-package-lock --no-audit --no-fund --loglevel=error && go test ./... && go run . $(BENCHFLAGS)

.PHONY: bench-branch
bench-branch: build ## measure versions that branch, with a parent of 1 GB: docs/design/branching.md (about 20 minutes)
	cd bench && npm install --no-package-lock --no-audit --no-fund --loglevel=error && go test ./... && go run . -only parts,branching,d1,idle $(BENCHFLAGS)

.PHONY: differential
differential: build ## compare answers with those of wrangler dev: docs/reference/wrangler-dev.md (Linux x64; installs it with npm)
	cd bench/differential && npm install --no-package-lock --no-audit --no-fund --loglevel=error && go run . $(DIFFERENTIALFLAGS)

.PHONY: follow
follow: ## move the pins to the newest workerd, wrangler and Vite's plugin, run the gate, write build/follow.md (Linux x64; FOLLOWFLAGS="-commit", "-gate unit,differential")
	go run ./internal/test/follow $(FOLLOWFLAGS)

.PHONY: test-ui
test-ui: ## drive svcctl ui in a terminal (needs tmux)
	go test $(RACE) -vet=off -count=1 -timeout 5m -tags e2e,tmux -run TestUIInTmux $(GOTESTFLAGS) ./internal/test/e2e

.PHONY: test-dashboard
test-dashboard: build ## drive the dashboard in Chromium (CHROMIUM=/usr/bin/chromium), and write docs/images/dashboard
	cd scripts/dashboard && npm ci --no-audit --no-fund --loglevel=error && node test.mjs

.PHONY: test-frameworks
test-frameworks: build ## build applications with their frameworks, deploy them, compare them with wrangler dev in Chromium (Linux x64; FRAMEWORKS="astro next")
	cd scripts/frameworks && npm ci --no-audit --no-fund --loglevel=error && node test.mjs $(FRAMEWORKS)

.PHONY: e2e-kube
e2e-kube: build ## run the program on a real Kubernetes of three nodes (needs root; docs/guide/kubernetes.md)
	./scripts/kube/run $(GOTESTFLAGS)

.PHONY: test-client
test-client: build ## generate a client in TypeScript from the OpenAPI document, compile it, and use it against a real server
	cd scripts/client && npm ci --no-audit --no-fund --loglevel=error && npx openapi-typescript ../../pkg/api/openapi.yaml -o api.d.ts && npx tsc && node test.mjs

.PHONY: fuzz
fuzz: ## run every fuzz test for FUZZTIME
	./scripts/fuzz $(FUZZTIME)

.PHONY: torture
torture: ## for TORTURE each: kill writers, hosts, daemons and stores at random; compare the control plane with a model, the gateway's engines, the order of calls, and the events that clients see
	go test -run Crash -v -timeout 0 ./internal/data/cowvfs ./internal/data/dataplane -crash.duration $(TORTURE)
	go test -run TestHistory -v -timeout 0 -count 10 -tags torture ./internal/data/dataplane
	go test -run Order -v -timeout 0 ./internal/host/binding/all -order.requests 10000 -order.kills 50
	go test -run Differential -v -timeout 0 ./internal/edge/gateway -differential.duration $(TORTURE) -differential.seed 0
	go test -run 'Crash|SplitBrain' -v -timeout 0 -tags e2e ./internal/test/e2e -crash.duration $(TORTURE)
	go test -run ReleaseDoors -v -timeout 0 -tags e2e ./internal/test/e2e -release.duration $(TORTURE) -release.kills 500
	go test -run 'Model$$' -v -timeout 0 -tags e2e,torture ./internal/test/e2e -model.operations 2000 -model.seed 0
	go test -run DevSavesUnderLoad -v -timeout 0 -tags e2e ./internal/test/e2e -dev.saves 200
	go test -run 'Faults|ReleaseLeaderLost' -v -timeout 0 -tags e2e ./internal/test/e2e -faults.points
	go test -run 'PromoteUnderLoad|RestartAwake|PendingDeploys|SleepingInstances' -v -timeout 0 -tags e2e,torture ./internal/test/e2e
	go test -run Sleepers -v -timeout 0 -tags e2e ./internal/test/e2e -sleepers 1000 -sleepers.duration 30s
	go test -run UpgradeUnderLoad -v -timeout 0 -tags e2e ./internal/test/e2e -upgrade.count 20 -upgrade.rate 1000 -upgrade.sockets 50
	go test -run EventsOnceOverRestarts -v -timeout 0 -tags e2e ./internal/test/e2e -feed.clients 100 -feed.rate 1000 -feed.duration 5m
	go test -run UIUnderLoad -v -timeout 0 -tags e2e ./internal/test/e2e -ui.projects 50 -ui.versions 1000 -ui.rate 200 -ui.keys 300 -ui.key 50ms -ui.memory 100
	$(MAKE) test-upgrade
	go test -run UnderAttack -v -timeout 0 -tags e2e ./internal/test/e2e -attack.bodies 5000 -attack.readers 2000 -attack.duration 60s -attack.p99 250ms

.PHONY: models
models: ## search all states of the models in internal/test/models, and of their broken variants (needs spin and gcc; 3 GB of memory)
	go test -count=1 -v -timeout 1h -tags models $(GOTESTFLAGS) ./internal/test/models

.PHONY: simulate
simulate: ## run SEEDS=1000 seeds of the data's simulator from FIRST=1 on, one process a core; or replay SEED=4711 (SHRINK=1: find its fewest decisions)
	go run ./internal/test/simulate/run $(if $(SEED),-seed $(SEED) $(if $(KEEP),-keep $(KEEP)) $(if $(SHRINK),-shrink),-first $(or $(FIRST),1) -seeds $(or $(SEEDS),1000) $(if $(SIMTIME),-time $(SIMTIME)) $(if $(JOBS),-jobs $(JOBS))) $(if $(STEPS),-steps $(STEPS)) $(SIMULATEFLAGS)

.PHONY: mutate
mutate: ## plant one fault at a time in the data's code; each must be found by the simulator or by its test (ONLY=sweep BY=test)
	go run ./internal/test/mutate $(if $(ONLY),-only "$(ONLY)") $(if $(BY),-by $(BY)) $(MUTATEFLAGS)

.PHONY: linearize
linearize: ## check histories of clients under kills for LINEARIZE (60s) in each durability
	go test -count=1 -v -timeout 0 -tags e2e -run 'TestLinearizable$$' $(GOTESTFLAGS) ./internal/test/e2e -linearize.duration $(or $(LINEARIZE),60s)

.PHONY: image
image: ## write dist/svcctl_linux_{amd64,arm64}.tar, OCI images, without Docker (needs mmdebstrap)
	./packaging/image/build amd64 dist/svcctl_linux_amd64.tar
	./packaging/image/build arm64 dist/svcctl_linux_arm64.tar

.PHONY: test-image
test-image: ## build the image twice, compare, and run it with podman (needs root)
	./packaging/test/image

.PHONY: test-containers
test-containers: ## run the image as the guide says: podman as root and as another user, rootless Docker, compose (needs root)
	./packaging/test/containers

.PHONY: test-chart
test-chart: ## lint and render the Helm chart with Helm, and compare it with svcctl admin manifests kubernetes (builds Helm)
	./packaging/test/chart

.PHONY: test-release
test-release: ## build the release in two checkouts, and compare the bytes (docs/guide/install.md)
	./packaging/test/release

.PHONY: test-install
test-install: ## live with the packages in a Debian with systemd (needs root; docs/guide/install.md)
	./packaging/test/install

.PHONY: test-arm64
test-arm64: ## install the packages for arm64 in a Debian that QEMU emulates, deploy and promote (needs root; docs/guide/install.md)
	./packaging/test/arm64

.PHONY: test-cgroup
test-cgroup: ## limit versions by control groups in an emulated Debian (needs root; docs/guide/operating.md)
	./packaging/test/cgroup

.PHONY: test-proxies
test-proxies: ## run Caddy, nginx, HAProxy and Traefik in front of a real server (docs/guide/proxies.md)
	./packaging/test/proxies

.PHONY: test-tls
test-tls: ## order certificates from pebble, Let's Encrypt's test authority (docs/guide/tls.md)
	go test $(RACE) -count=1 -v ./internal/edge/acme
	go test $(RACE) -count=1 -v -tags e2e -run 'CertificatesOnDemand|HTTPS' ./internal/test/e2e

.PHONY: test-hyperdrive
test-hyperdrive: build ## use MariaDB by TLS from a worker with mysql2 (needs mariadb-server; docs/guide/other-bindings.md)
	./scripts/hyperdrive/test

.PHONY: test-upgrade
test-upgrade: ## upgrade from the last release and go back, with data (docs/guide/backup.md)
	go test -vet=off -count=1 -v -timeout 20m -tags e2e,release -run 'UpgradeFromRelease$$' $(GOTESTFLAGS) ./internal/test/e2e

.PHONY: test-power
test-power: ## cut the power of the embedded store and of a server with Durable Objects, on ext4 and XFS (needs root)
	go test -run PowerFailure -v -count=1 -timeout 0 -tags power ./internal/data/s3server -power.cuts $(CUTS)
	go test $(RACE) -run PowerFailureWithObjects -v -count=1 -timeout 0 -tags e2e,power ./internal/test/e2e -power.cuts $(CUTS)

.PHONY: release-notes
release-notes: ## print what changelog/unreleased has, or make it the section VERSION of CHANGELOG.md
	./scripts/release-notes $(VERSION)

.PHONY: vuln
vuln: ## look for known vulnerabilities (needs the network)
	$(TOOL) govulncheck ./...

.PHONY: hooks
hooks: ## let git run scripts/pre-commit and scripts/commit-msg
	git config core.hooksPath scripts

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist
