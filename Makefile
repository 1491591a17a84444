# Thorpe's front door: two commands, `make run` and `make test`; the rest serves them.
# SPDX-License-Identifier: Apache-2.0

.DEFAULT_GOAL := help
.PHONY: help run build install uninstall test check-asan check-tsan fuzz crash crash-designs crash-servers test-remote sim mutants bench bench-quick clean

# Options handed to the server by `make run`, e.g. make run ARGS="--listen 127.0.0.1:9000"
ARGS ?=
# Where `make install` puts things; DESTDIR goes in front of it, for packagers.
PREFIX ?= /usr/local

help:
	@echo "make run         build, then serve on http://127.0.0.1:8000 with ./thorpe-data, the designs of designs/ and their demo data (ARGS=... is handed on)"
	@echo "make test        build, then run every test: unit, crash, wire (node, boto3, aws cli), console (Chromium)"
	@echo "make build       leave the server in build/thorpe"
	@echo "make install     copy it to PREFIX/bin ($(PREFIX)) and the designs to PREFIX/share/thorpe; DESTDIR=... for packages"
	@echo "make uninstall   remove both"
	@echo "make check-asan  every test under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make check-tsan  unit and wire tests under ThreadSanitizer"
	@echo "make fuzz        run each libFuzzer target for FUZZ_SECONDS (60)"
	@echo "make crash       kill -9 the server CRASH_KILLS (200) times under load and check what is left"
	@echo "make test-remote the tests of the designs with their tables at another Thorpe, at one that goes wrong on purpose, and at DynamoDB Local; or where THORPE_BACKEND says"
	@echo "make crash-designs fifty clients of the five designs at once, CRASH_ROUNDS (25) times killed; then everything is recounted from outside"
	@echo "make crash-servers three servers at one database, FOLLOWERS (50000), one server killed every ten seconds, KILLS (12) times and more; then a recount"
	@echo "make sim         simulate every design under a seeded scheduler: SEEDS (100) runs each; SEED=x replays one, DESIGN=name restricts"
	@echo "make mutants     take lines out of the store and the runtime, one at a time, and see whether a test or a simulation notices (ten to twenty minutes)"
	@echo "make bench       measure beside dynalite, DynamoDB Local, nginx and RocksDB alone into bench/RESULTS.md (PARTS=\"api rest steady growth process embedded\")"
	@echo "make bench-quick the main ratios, in under two minutes"
	@echo "make clean       remove what was built; data directories stay"

build:
	@scripts/install.sh build
	@scripts/console.sh --optional
	@scripts/build.sh build/thorpe

install:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install-thorpe.sh

uninstall:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install-thorpe.sh --remove

run: build
	@scripts/install.sh --advise tools
	@exec build/thorpe serve $(addprefix --design ,$(wildcard designs/*.yaml)) --demo designs/demo $(ARGS)

test:
	@scripts/test.sh

check-asan:
	@scripts/check.sh asan

check-tsan:
	@scripts/check.sh tsan

fuzz:
	@scripts/fuzz.sh

crash:
	@scripts/install.sh build test
	@scripts/console.sh
	@scripts/build.sh build/thorpe
	@scripts/crash.sh

crash-designs:
	@scripts/install.sh build test
	@scripts/console.sh --optional
	@scripts/build.sh build/thorpe
	@CRASH_ROUNDS=$${CRASH_ROUNDS:-25} THORPE_BIN=$$PWD/build/thorpe node tests/crash/designs.mjs

crash-servers:
	@scripts/install.sh build test
	@scripts/console.sh --optional
	@scripts/build.sh build/thorpe
	@FOLLOWERS=$${FOLLOWERS:-50000} KILLS=$${KILLS:-12} THORPE_BIN=$$PWD/build/thorpe node tests/crash/servers.mjs

test-remote:
	@scripts/install.sh build test
	@scripts/console.sh --optional
	@scripts/build.sh build/thorpe
	@scripts/test-remote.sh

sim:
	@scripts/install.sh build
	@scripts/console.sh --optional
	@scripts/build.sh build/tests/sim/sim
	@SEEDS=$(SEEDS) SEED=$(SEED) DESIGN=$(DESIGN) WITH=$(WITH) WITHOUT=$(WITHOUT) CLIENTS=$(CLIENTS) STEPS=$(STEPS) scripts/sim.sh

mutants:
	@scripts/install.sh build test
	@scripts/console.sh
	@python3 tests/mutants/run.py

bench:
	@scripts/bench.sh $(PARTS)

bench-quick:
	@scripts/bench.sh quick

clean:
	@rm -rf build build-asan build-tsan build-fuzz build-mutants console/dist
