# Wayname. `make run` shows it at work, `make test` proves it; each sets up what it needs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CARGO := cargo
SWITCH := switch/target/release/wayname-switch

# Where Python of ours is.
PYTHON_ROOMS := $(wildcard controller topo ptf-tests p4src/tests bench)

# `make run SECONDS=20` ends by itself.
SECONDS :=

PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Side by side, one more than there are cores, since tests of running processes wait much; whoever is done takes over from others.
PYTEST = $(BIN)/python -m pytest -q -n $(shell echo $$(($(shell nproc) + 1))) --dist worksteal
# Live processes side by side can starve each other of a processor: a test that fails is told, and has to pass by itself.
LIVE_PYTEST = live() { $(PYTEST) "$$@" || { [ $$? -eq 1 ] && echo "== what failed, once more by itself" \
    && $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none "$$@"; }; }; live
INSTALL_MODULES = site="$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"; \
    for module in wayname_switch wayname_host wayname_cga; do \
    install -m 644 switch/target/release/lib$$module.so "$$site/$$module.abi3.so"; done

.PHONY: help venv venv-dev venv-switch wheel install deb container switch everything lab-programs run lab exercise test test-switch test-loom test-binding test-p4src test-controller test-ptf test-topo docs test-page test-operator test-fleet fleet-schedules test-bench test-aarch64 fuzz-decoders parser-fuzz conformance fuzz bench bench-switch bench-shim6 bench-encap bench-multipath bench-multipath-sender bench-ilcc bench-cost bench-attacks bench-failover bench-linux bench-tcp bench-offloads bench-routes bench-page bench-fleet session figures soak soak-virtual audit fmt lint clean

help: ## What can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):[^#]*## /  make \1\t/' | expand -t 24

venv: $(VENV)/.ready ## The Python environment

$(VENV)/.ready: requirements.txt pyproject.toml
	@echo "== Python packages (at first: some 40 s)"
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --require-hashes -r requirements.txt
	$(PIP_INSTALL) --no-build-isolation --no-deps -e .
	touch $@

venv-dev: $(VENV)/.dev-ready ## The same with what checks, tests and measures

$(VENV)/.dev-ready: $(VENV)/.ready requirements-dev.txt ptf-tests/requirements.txt
	@echo "== Python packages for development"
	$(PIP_INSTALL) --require-hashes -r requirements-dev.txt
	$(PIP_INSTALL) --require-hashes --no-deps -r ptf-tests/requirements.txt
	touch $@

switch: venv ## The embedded switch
	@echo "== the embedded switch (the first build takes some minutes)"
	cd switch && $(CARGO) build --release --locked --bin wayname-switch

everything: venv ## All that is Rust: the embedded switch, the hosts of labs, Python modules, tests, benchmarks
	@echo "== the embedded switch with its tests (the first build takes some minutes)"
	cd switch && $(CARGO) build --release --locked --workspace --all-targets

# The module as it comes out of the common build: maturin would build its dependencies once more, with other features.
venv-switch: everything venv-dev ## The Python modules that are written in Rust, into the Python environment
	@$(INSTALL_MODULES)

WHEELS := switch/target/wheels
PACKAGE_PIP = PIP="$(abspath $(BIN))/python -m pip"

wheel: lab-programs ## Wheels in switch/target/wheels: `wayname`, which has all of it, and `wayname-switch`, the switch alone
	@echo "== wheels"
	@rm -rf build $(WHEELS)
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir build/python-part .
	@$(BIN)/python controller/packages/wheels.py build/python-part/*.whl $(WHEELS)

install: wheel ## Install below PREFIX=/usr/local, with systemd's units; DESTDIR=FOLDER stages it there
	@DESTDIR="$(DESTDIR)" PREFIX="$(or $(PREFIX),/usr/local)" PYTHON="$(PYTHON)" $(PACKAGE_PIP) controller/packages/install $(WHEELS)/wayname-*.whl

deb: wheel ## The Debian package, in switch/target/debian (needs dpkg-dev and debhelper)
	@echo "== the Debian package"
	@$(PACKAGE_PIP) controller/packages/debian.sh $(WHEELS)/wayname-*.whl switch/target/debian

container: wheel ## The container image `wayname` (needs podman)
	@rm -rf build/container && install -D -m 644 -t build/container requirements.txt $(WHEELS)/wayname-*.whl
	podman build --file controller/packages/Containerfile --tag wayname build/container

# No other crate. The same choice of features as for everything, so that `make test` builds none of it again.
lab-programs: venv ## What labs and exercises run: switch, hosts, their Python modules
	@$(BIN)/python controller/packages/prebuilt.py "$(PYTHON)" || { \
	    echo "== switch, hosts and their Python modules (at first some 245 crates: 4 to 5 minutes on two cores; later seconds)"; \
	    (cd switch && $(CARGO) build --release --locked --workspace --exclude bench --exclude cases --exclude hostile \
	        --lib --bin wayname-switch --bin wayname-host) && { $(INSTALL_MODULES); }; }

run: lab-programs ## Run two sites whose connections outlive a provider (SECONDS=n ends it by itself)
	@$(BIN)/wayname lab run two-sites $(if $(SECONDS),--seconds $(SECONDS))

LAB := two-sites
IN := wires
lab: lab-programs ## Run a lab: LAB=name or file, IN=wires or namespaces (root), SECONDS=n
	@$(BIN)/wayname lab run $(LAB) --in $(IN) $(if $(SECONDS),--seconds $(SECONDS))

N :=
FILE :=
exercise: lab-programs ## Check an exercise of docs/exercises: N=1 to 5, FILE=yours
	@test -n "$(N)" || { echo "say which, and your file: make exercise N=1 FILE=mine.py (docs/exercises/)"; exit 2; }
	@PYTHONPATH=topo $(BIN)/python -m exercises.check $(N) $(FILE)

test: test-switch test-loom test-binding test-p4src test-controller test-ptf test-topo test-packages test-bench ## All tests

test-switch: everything ## The tests of the embedded switch and of the hosts
	cd switch && $(CARGO) test --release --locked --workspace

# In a folder of its own: loom's words are others all through the crates.
test-loom: ## What threads share, in all orders of their steps (loom)
	cd switch && RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) test --release --locked -p tables -p runtime --test loom

test-binding: venv-switch ## The Python modules' tests
	$(BIN)/python -m pytest -q switch/crates/python/tests topo/host/python/tests

test-p4src: venv-switch ## The pipeline's cases, and whether its P4Info is up to date
	$(BIN)/python p4src/tests/write_cases.py --check
	switch/target/release/conformance --goal 100 -I p4src --program p4src/v1model/main.p4 p4src/tests
	$(PYTEST) p4src/tests
	$(SWITCH) compile -I p4src p4src/v1model/main.p4 --p4info - | diff - p4src/wayname.p4info.txtpb \
	    || { echo "p4src/wayname.p4info.txtpb is out of date; the lines above say how"; exit 1; }

test-controller: venv-switch ## The tests of the controller, and whether those that docs name are there
	$(LIVE_PYTEST) controller/tests

# Random choices are the same for the same SEED.
fuzz-decoders: venv-switch ## The controller's decoders, and whole edges, against ROUNDS=10000 inputs each that are nearly right (SEED=1)
	cd controller/tests && ../../$(BIN)/python -m fuzz --rounds $(or $(ROUNDS),10000) --seed $(or $(SEED),1)

parser-fuzz: venv-switch ## The parser against 100,000 random packets, with scapy as second opinion
	$(BIN)/python p4src/tests/parser_fuzz.py

test-ptf: venv-switch ## The PTF tests: in process, over wires, and over veth pairs and BMv2 where there is root and BMv2
	$(PYTEST) ptf-tests/tests
	$(BIN)/python ptf-tests/run
	$(BIN)/python ptf-tests/run --wires
	$(BIN)/python ptf-tests/run --veth
	$(BIN)/python ptf-tests/run --bmv2

# Packages of its own: what makes the site is needed for nothing else.
DOCS_VENV := $(VENV)/docs
$(DOCS_VENV)/.ready: docs/site/requirements.txt
	@echo "== Python packages for the documentation site"
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

docs: $(DOCS_VENV)/.ready ## The documentation site, in build/site; a link that leads nowhere ends it
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict
	@echo "read it, and search in it: python3 -m http.server --bind 127.0.0.1 --directory build/site 8000"

test-topo: venv-switch ## Labs: their data, on wires, on a virtual clock, and with root in namespaces
	$(LIVE_PYTEST) topo/tests

test-fleet: venv-switch ## Several controllers of an edge with real etcd servers (needs Debian's etcd-server and etcd-client)
	$(BIN)/python -m pytest -q controller/tests/fleet controller/tests/test_vrrp.py topo/tests/test_fleet_lab.py topo/tests/test_fleet_directory.py topo/tests/test_fleet_restore.py topo/tests/test_two_edges.py

fleet-schedules: venv-switch ## 10,000 random fault schedules for a fleet's controllers on the virtual clock (SCHEDULES=n, JOBS=2, SEED=n)
	$(BIN)/python -m bench.fleet.schedules --seed $(SEED) --schedules $(or $(SCHEDULES),10000) --jobs $(or $(JOBS),2)

test-page: venv-switch ## The live page in Chromium (needs Debian's chromium and chromium-driver; PICTURES=docs/figures makes those of docs)
	PICTURES=$(PICTURES) $(BIN)/python -m pytest -q topo/tests/page

test-operator: venv-dev deb ## docs/run-your-edge.md word for word in namespaces, from the Debian package on a bare root (root)
	WAYNAME_DEB="$$(ls -t switch/target/debian/wayname_*.deb | head -1)" $(BIN)/python -m pytest -q topo/tests/test_operator.py

conformance: venv ## p4c's own cases on the embedded switch: make conformance P4C_TESTDATA=<p4c>/testdata
	@test -d "$(P4C_TESTDATA)/p4_16_samples" || { echo "say where p4c's cases are: make conformance P4C_TESTDATA=<p4c>/testdata"; exit 2; }
	cd switch && $(CARGO) run --release --locked --bin conformance -- "$(abspath $(P4C_TESTDATA))"
	cd switch && $(CARGO) run --release --locked --bin p4info-corpus -- "$(abspath $(P4C_TESTDATA))"

test-aarch64: ## The pipeline's cases in native code for aarch64, under qemu-user (ONLY=routing: those whose name has it)
	@CARGO="$(CARGO)" ONLY="$(ONLY)" switch/aarch64.sh

fuzz: venv ## Look for input that breaks the switch: make fuzz TARGET=compiler (or documents, packets, messages) SECONDS=600
	@test -f "switch/fuzz/targets/$(TARGET).rs" || { echo "say what to fuzz: make fuzz TARGET=compiler (or documents, packets, messages)"; exit 2; }
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { echo "cargo-fuzz is not there: cargo install cargo-fuzz"; exit 2; }
	cd switch && $(CARGO) run --release --locked --bin fuzz-seeds -- fuzz/corpus
	cd switch && $(CARGO) fuzz run --sanitizer none $(TARGET) -- $(addprefix -dict=,$(subst switch/,,$(wildcard switch/fuzz/$(TARGET).dict))) \
		-max_total_time=$(or $(SECONDS),60) -timeout=20 -rss_limit_mb=4096

bench: bench-switch bench-shim6 bench-encap bench-multipath bench-multipath-sender bench-ilcc bench-cost bench-attacks bench-failover bench-linux bench-tcp bench-offloads bench-routes bench-page bench-fleet ## All measurements

SEED := 1
# With OUT=DIR figures go there, and the checkout stays as it is.
OUT :=
INTO = $(if $(OUT), --out "$(abspath $(OUT))")
bench-switch: venv ## What the embedded switch costs, beside other ways to do the same (SEED=n)
	cd switch && $(CARGO) build --release --locked --bin wayname-switch --bin bench-switch
	cd switch && target/release/bench-switch --seed $(SEED)

bench-shim6: lab-programs venv-dev ## The experiments of the first paper, drawn into docs/figures or OUT=DIR (FIGURE=6 one of them, QUICK=1: few runs, SEED=n)
	$(BIN)/python -m bench.shim6 --seed $(SEED) $(if $(FIGURE),--figure $(FIGURE)) $(if $(QUICK),--quick)$(INTO)

bench-encap: venv-dev ## What encapsulation costs by size, drawn into docs/figures (QUICK=1: fewer sizes, SEED=n, FLOW_CACHE=0: without)
	cd switch && $(CARGO) build --release --locked --bin wayname-switch --bin bench-encap
	$(BIN)/python -m bench.encap --seed $(SEED) $(if $(FLOW_CACHE),--flow-cache $(FLOW_CACHE)) $(if $(QUICK),--quick)$(INTO)

bench-multipath: lab-programs venv-dev ## Several paths by edges that tell each other, drawn and written into docs (FIGURE=cost one part, QUICK=1 shorter, OUT=DIR, SEED=n)
	$(BIN)/python -m bench.multipath --seed $(SEED) $(if $(FIGURE),--figure $(FIGURE)) $(if $(QUICK),--quick)$(INTO)

bench-multipath-sender: lab-programs venv-dev ## The experiments of the third paper, by the sending edge alone, and beside others (FIGURE, QUICK, OUT, SEED as above)
	$(BIN)/python -m bench.multipath --sender --seed $(SEED) $(if $(FIGURE),--figure $(FIGURE)) $(if $(QUICK),--quick)$(INTO)

bench-ilcc: lab-programs venv-dev ## The experiments of the paper on ILNP, drawn into docs/figures (FIGURE=floods one of them, QUICK=1: short, SEED=n)
	$(BIN)/python -m bench.ilcc --seed $(SEED) $(if $(FIGURE),--figure $(FIGURE)) $(if $(QUICK),--quick)$(INTO)

bench-cost: lab-programs venv-dev ## What a session costs an edge by how many it has, drawn into docs/figures (SESSIONS=100000, SEED=n)
	$(BIN)/python -m bench.cost --seed $(SEED) $(if $(SESSIONS),--sessions $(SESSIONS))$(INTO)

session: lab-programs ## Record a terminal on which `make run` runs, into docs/figures/session.svg
	$(BIN)/python -m bench.session

figures: venv-switch ## All figures of docs/figures, measured anew and drawn into OUT=DIR; the checkout stays as it is (hours; SEED=n)
	@test -n "$(OUT)" || { echo "say where to: make figures OUT=/tmp/figures"; exit 2; }
	cd switch && $(CARGO) build --release --locked --bin wayname-switch --bin bench-encap
	@missed=0; for bench in shim6 multipath ilcc encap cost failover; do \
	    $(BIN)/python -m bench.$$bench --seed $(SEED) --out "$(abspath $(OUT))" || missed=1; done; \
	$(BIN)/python -m bench.multipath --sender --seed $(SEED) --out "$(abspath $(OUT))" || missed=1; exit $$missed

ONLY :=
bench-attacks: lab-programs ## Floods and forgeries against a live edge, written into docs (QUICK=1 short, ONLY=name some, SEED=n)
	GRPC_ENABLE_FORK_SUPPORT=false $(BIN)/python -m bench.attacks --seed $(SEED) $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(QUICK)$(ONLY),,--write)

bench-failover: lab-programs venv-dev ## The same cut for plain TCP, MPTCP and hosts behind edges, written into docs (root; QUICK=1 short, SEED=n)
	$(BIN)/python -m bench.failover --seed $(SEED) $(if $(QUICK),--quick)$(INTO)

bench-linux: venv-switch ## IPv4 routed by Linux beside the switch, and by Linux alone (root, SEED=n)
	$(BIN)/python -m bench.linux --seed $(SEED)

bench-tcp: lab-programs venv-dev ## How the lab hosts' TCP mends losses, beside Linux's (root, SEED=n)
	$(BIN)/python -m bench.tcp --seed $(SEED)

bench-routes: lab-programs ## What a hundred thousand routes of Linux cost, and of two providers by BGP with FRR (root, ROUTES=n, SEED=n)
	$(BIN)/python -m bench.routes --seed $(SEED) $(if $(ROUTES),--routes $(ROUTES))
	$(BIN)/python -m bench.routes.over_bgp --seed $(SEED) $(if $(ROUTES),--routes $(ROUTES))

bench-page: lab-programs venv-dev ## The live page under 100,000 sessions and 10,000 events a second (Chromium; QUICK=1 less and shorter, SEED=n)
	$(BIN)/python -m bench.page --seed $(SEED) $(if $(QUICK),--quick)

bench-fleet: venv-switch ## What a fleet costs by its number of edges, through real servers of etcd, drawn into docs/figures or OUT=DIR (QUICK=1 few edges, SEED=n)
	$(BIN)/python -m bench.fleet --seed $(SEED) --lease 10 $(if $(QUICK),--quick) $(addprefix --out ,$(or $(OUT),$(if $(QUICK),,docs/figures)))
	$(if $(QUICK),,$(BIN)/python -m bench.fleet --seed $(SEED) --edges 1000 --processes 2 --lease 10 --sessions 100 --moves 1000 --seconds 10)
	$(BIN)/python -m bench.fleet.rolling_restart --seed $(SEED) $(if $(QUICK),--quick)
	$(BIN)/python -m bench.fleet.takeovers --seed $(SEED) $(if $(QUICK),--quick)

bench-offloads: switch venv-dev ## Hosts with their offloads on: rates through the switch's ports and through Linux (root, SEED=n)
	$(BIN)/python -m bench.offloads --seed $(SEED)

soak: lab-programs ## Two live edges for an hour while daemons, links, processes, disks and clocks fail (root; MINUTES=60, QUICK=1, SEED=n)
	$(BIN)/python -u -m bench.soak --seed $(SEED) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(QUICK),--quick)

soak-virtual: lab-programs ## The same for a day on the virtual clock (HOURS=24, SEED=n)
	$(BIN)/python -u -m bench.soak.day --seed $(SEED) $(if $(HOURS),--hours $(HOURS))

test-packages: everything venv-switch ## Wheels, the Debian package, systemd units and manual pages
	$(PYTEST) controller/packages/tests

test-bench: venv-switch ## The tests of what measures and draws
	$(LIVE_PYTEST) bench/tests

audit: venv-dev ## Known advisories, licences and sources of all dependencies; what is not there to check with is skipped
	$(BIN)/python -m pytest -q controller/tests/test_dependencies.py
	PATH="$(CURDIR)/$(BIN):$$PATH" .ci/audit

fmt: venv-dev ## Format all sources
	cd switch && $(CARGO) fmt --all
	$(BIN)/ruff format --quiet $(PYTHON_ROOMS) docs/site
	$(BIN)/ruff check --quiet --fix-only $(PYTHON_ROOMS) docs/site

lint: venv-dev ## Check formats and style
	cd switch && $(CARGO) fmt --all --check
	cd switch && $(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings
	cd switch && RUSTDOCFLAGS="-D warnings" $(CARGO) doc --quiet --release --locked --workspace --no-deps
	$(BIN)/ruff format --check --quiet $(PYTHON_ROOMS) docs/site
	$(BIN)/ruff check --quiet $(PYTHON_ROOMS) docs/site
	$(BIN)/mypy $(PYTHON_ROOMS)
	$(BIN)/lint-imports

clean: ## Remove what was built
	rm -rf $(VENV) switch/target
