# The two main commands are `make run` and `make test`; `make` lists all.
# SPDX-License-Identifier: Apache-2.0

.DEFAULT_GOAL := help
.PHONY: help run build install uninstall test check-asan check-tsan fuzz crash crash-designs crash-servers test-remote sim mutants bench bench-quick clean

# More options for the server of `make run`, e.g. make run ARGS="--listen 127.0.0.1:9000"
ARGS ?=
# Where `make install` copies to; packagers set DESTDIR, which is prepended.
PREFIX ?= /usr/local
# The app of designs/social.yaml, if npm could build it.
SOCIAL_WEB := examples/social-web/dist

help:
	@echo "make run           build, then serve ./thorpe-data on http://127.0.0.1:8000, with designs/, their demo data and an app (ARGS=... for more options)"
	@echo "make test          build, then run all tests: unit, crash, wire (Node.js, boto3, aws cli), console (Chromium)"
	@echo "make build         build build/thorpe"
	@echo "make install       copy it to PREFIX/bin ($(PREFIX)), the designs and the app to PREFIX/share/thorpe; DESTDIR=... for packages"
	@echo "make uninstall     remove both"
	@echo "make check-asan    all tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make check-tsan    unit and wire tests under ThreadSanitizer"
	@echo "make fuzz          run each libFuzzer target for FUZZ_SECONDS (60)"
	@echo "make crash         kill the server CRASH_KILLS (200) times under load, and check its data each time"
	@echo "make crash-designs run fifty clients of the five designs through CRASH_ROUNDS (25) kills, then recount every table"
	@echo "make crash-servers run three servers on one database with FOLLOWERS (50000), kill one every ten seconds (KILLS, 12), then recount"
	@echo "make test-remote   run the tests of the designs on remote tables: at another Thorpe, with injected faults, at DynamoDB Local; or at THORPE_BACKEND"
	@echo "make sim           simulate each design under a seeded scheduler: SEEDS (100) runs; SEED=x repeats one, DESIGN=name selects"
	@echo "make mutants       remove lines of the store and the runtime, one at a time; a test or simulation must fail (ten to twenty minutes)"
	@echo "make bench         compare with dynalite, DynamoDB Local, nginx and plain RocksDB, into bench/RESULTS.md (PARTS=\"api rest steady growth process embedded\")"
	@echo "make bench-quick   the main ratios, in under two minutes"
	@echo "make clean         remove build output; keeps data directories"

build:
	@scripts/install.sh build
	@scripts/console.sh --optional
	@scripts/build.sh build/thorpe
	@scripts/social-web.sh --optional

install:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install-thorpe.sh

uninstall:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install-thorpe.sh --remove

run: build
	@scripts/install.sh --advise tools
	@exec build/thorpe serve $(addprefix --design ,$(wildcard designs/*.yaml)) --demo designs/demo \
		$$([ ! -f $(SOCIAL_WEB)/index.html ] || echo --app social=$(SOCIAL_WEB)) $(ARGS)

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
	@rm -rf build build-asan build-tsan build-fuzz build-mutants console/dist $(SOCIAL_WEB)
